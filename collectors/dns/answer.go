package dns

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
)

// maxAnswerText bounds the data of an expected record in bytes: a label value.
const maxAnswerText = 512

// rcode is a response code as a label value. The set is closed.
type rcode string

// The response codes of RFC 1035 section 4.1.1. All others are other.
const (
	rcodeSuccess  rcode = "noerror"
	rcodeFormat   rcode = "formerr"
	rcodeFailure  rcode = "servfail"
	rcodeName     rcode = "nxdomain"
	rcodeNotImpl  rcode = "notimp"
	rcodeRefused  rcode = "refused"
	rcodeElsewise rcode = "other"
)

func rcodes() []rcode {
	return []rcode{rcodeSuccess, rcodeFormat, rcodeFailure, rcodeName, rcodeNotImpl, rcodeRefused, rcodeElsewise}
}

// answer is what a response contains for the question.
type answer struct {
	header dnsmessage.Header
	// data are the records of the requested type, as dig +short prints them, in the order of
	// the response.
	data []string
	// ttl is the smallest of these records.
	ttl time.Duration
	// serial is that of the SOA record, if one was requested.
	serial uint32
}

// parseAnswer reads a response to the question with this ID. An error means that the message is
// no response to it.
func parseAnswer(message []byte, id uint16, question dnsmessage.Question) (*answer, error) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil {
		return nil, fmt.Errorf("parse header: %w", err)
	}
	if !header.Response || header.ID != id {
		return nil, fmt.Errorf("the message is no response to the query")
	}
	questions, err := p.AllQuestions()
	if err != nil {
		return nil, fmt.Errorf("parse question: %w", err)
	}
	// A server that could not read the question may leave it out.
	omitted := len(questions) == 0 && header.RCode != dnsmessage.RCodeSuccess
	if !omitted && (len(questions) != 1 || !sameQuestion(questions[0], question)) {
		return nil, fmt.Errorf("the response is to another question")
	}
	a := &answer{header: header}
	for {
		record, err := p.AnswerHeader()
		if err == dnsmessage.ErrSectionDone {
			return a, nil
		}
		if err == nil && (record.Type != question.Type || record.Class != question.Class) {
			if err = p.SkipAnswer(); err == nil {
				continue
			}
		}
		if err == nil {
			err = a.add(&p, record)
		}
		switch {
		case err == nil:
		case header.Truncated:
			return a, nil // it may end within a record
		default:
			return nil, fmt.Errorf("parse answer: %w", err)
		}
	}
}

// sameQuestion compares without case: servers may change that of names.
func sameQuestion(a, b dnsmessage.Question) bool {
	return a.Type == b.Type && a.Class == b.Class && strings.EqualFold(a.Name.String(), b.Name.String())
}

// add reads the record after its header.
func (a *answer) add(p *dnsmessage.Parser, header dnsmessage.ResourceHeader) error {
	data, err := a.read(p, header.Type)
	if err != nil {
		return err
	}
	if ttl := time.Duration(header.TTL) * time.Second; len(a.data) == 0 || ttl < a.ttl {
		a.ttl = ttl
	}
	a.data = append(a.data, data)
	return nil
}

// read returns the data of a record of this type.
func (a *answer) read(p *dnsmessage.Parser, record dnsmessage.Type) (string, error) {
	switch record {
	case dnsmessage.TypeA:
		r, err := p.AResource()
		return netip.AddrFrom4(r.A).String(), err
	case dnsmessage.TypeAAAA:
		r, err := p.AAAAResource()
		return netip.AddrFrom16(r.AAAA).String(), err
	case dnsmessage.TypeCNAME:
		r, err := p.CNAMEResource()
		return r.CNAME.String(), err
	case dnsmessage.TypeMX:
		r, err := p.MXResource()
		return fmt.Sprintf("%d %s", r.Pref, r.MX.String()), err
	case dnsmessage.TypeNS:
		r, err := p.NSResource()
		return r.NS.String(), err
	case dnsmessage.TypePTR:
		r, err := p.PTRResource()
		return r.PTR.String(), err
	case dnsmessage.TypeSOA:
		r, err := p.SOAResource()
		a.serial = r.Serial
		return fmt.Sprintf("%s %s %d %d %d %d %d", r.NS.String(), r.MBox.String(), r.Serial, r.Refresh, r.Retry, r.Expire, r.MinTTL), err
	case dnsmessage.TypeSRV:
		r, err := p.SRVResource()
		return fmt.Sprintf("%d %d %d %s", r.Priority, r.Weight, r.Port, r.Target.String()), err
	case dnsmessage.TypeTXT:
		r, err := p.TXTResource()
		return strings.Join(r.TXT, ""), err
	}
	return "", fmt.Errorf("unexpected type %d", record)
}

// canonical returns the data of a record in a form to compare: addresses in their shortest form,
// and all but TXT in lower case and, for names, with the final dot.
func canonical(record dnsmessage.Type, data string) (string, error) {
	switch record {
	case dnsmessage.TypeTXT:
		return data, nil
	case dnsmessage.TypeA, dnsmessage.TypeAAAA:
		addr, err := netip.ParseAddr(data)
		if err != nil || addr.Zone() != "" || addr.Is4() != (record == dnsmessage.TypeA) {
			return "", fmt.Errorf("expected an address for this type of record")
		}
		return addr.String(), nil
	case dnsmessage.TypeSOA:
		if len(strings.Fields(data)) != 7 {
			return "", fmt.Errorf("expected seven fields, as dig +short prints them")
		}
		return strings.ToLower(data), nil
	}
	fields := map[dnsmessage.Type]int{dnsmessage.TypeMX: 2, dnsmessage.TypeSRV: 4}[record]
	if fields = max(fields, 1); len(strings.Fields(data)) != fields {
		return "", fmt.Errorf("expected %d fields, as dig +short prints them", fields)
	}
	return strings.ToLower(strings.TrimSuffix(data, ".")) + ".", nil
}

// rcode returns the response code.
func (a *answer) rcode() rcode {
	switch a.header.RCode {
	case dnsmessage.RCodeSuccess:
		return rcodeSuccess
	case dnsmessage.RCodeFormatError:
		return rcodeFormat
	case dnsmessage.RCodeServerFailure:
		return rcodeFailure
	case dnsmessage.RCodeNameError:
		return rcodeName
	case dnsmessage.RCodeNotImplemented:
		return rcodeNotImpl
	case dnsmessage.RCodeRefused:
		return rcodeRefused
	}
	return rcodeElsewise
}

// failure returns why the response is of no use, nil if it has a record of the type.
func (a *answer) failure() error {
	code := a.rcode()
	switch code {
	case rcodeSuccess:
		if len(a.data) == 0 {
			return collectors.Errorf(remote.ReasonNotFound, "the name has no record of this type")
		}
		return nil
	case rcodeName:
		return collectors.Errorf(remote.ReasonNotFound, "the name does not exist (NXDOMAIN)")
	case rcodeFormat:
		return collectors.Errorf(remote.ReasonClientError, "the server cannot read the query (FORMERR)")
	case rcodeRefused:
		return collectors.Errorf(remote.ReasonForbidden, "the server refuses the query (REFUSED)")
	case rcodeElsewise:
		return collectors.Errorf(remote.ReasonServerError, "the server failed with the response code %d", a.header.RCode)
	}
	return collectors.Errorf(remote.ReasonServerError, "the server failed (%s)", strings.ToUpper(string(code)))
}
