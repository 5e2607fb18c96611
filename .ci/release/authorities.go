package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// authorities returns the certificate authorities of Mozilla's list as PEM, as the Go project
// publishes them. An authority that Mozilla trusts only in part, such as up to a date, is left out:
// PEM cannot express the limit.
func authorities() ([]byte, error) {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("a certificate authority of x509roots: %w", err)
		}
		fmt.Fprintf(&b, "# %s\n", certificate.Subject)
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if b.Len() == 0 {
		return nil, errors.New("x509roots has no certificate authority")
	}
	return b.Bytes(), nil
}
