package fakes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// None is the fault of a dependency that works.
const None = "none"

// The faults, of every fake unless noted. A fault that answers requests also ends
// running watches; hang keeps them open without events, and slow does not affect them.
const (
	faultRefuse      = "refuse" // the port is closed, and open connections are dropped
	faultHang        = "hang"   // connections are accepted and requests are not answered
	faultSlow        = "slow"   // correct answers after a delay
	faultEmpty       = "empty"  // connections are closed without a reply
	fault401         = "401"
	fault403         = "403"
	fault500         = "500"
	fault503         = "503"
	faultDropWatch   = "drop-watch"          // kubernetes: watches are accepted and closed at once
	faultFreezeWatch = "freeze-watch"        // kubernetes: watches stay open without events
	faultDenyAccess  = "deny-access"         // kubernetes: get, list and watch are forbidden
	faultRemoveCRD   = "remove-crd"          // kubernetes: Kuryr's custom resources do not exist
	faultPassword    = "wrong-password"      // keystone: the password has changed, and all tokens are revoked
	faultNoEndpoint  = "no-network-endpoint" // keystone: the catalog has no endpoint of Neutron
	faultExhaust     = "exhaust-ports"       // neutron: 10 of 10 ports are used
	faultLowPorts    = "low-ports"           // neutron: 8 of 10 ports are used
	faultRevoke      = "revoke-token"        // neutron: tokens issued before are rejected
)

// ErrUnknown is returned by Set for a dependency or a fault that does not exist.
var ErrUnknown = errors.New("unknown")

// Dependency is a fake and its faults.
type Dependency struct {
	// Dependency is kubernetes, keystone or neutron.
	Dependency string `json:"dependency"`
	// Faults are the names that Set accepts, without None.
	Faults []string `json:"faults"`
	// Active is the current fault, or None.
	Active string `json:"active"`
}

// Faults lists the dependencies, always in the same order.
func (c *Cloud) Faults() []Dependency {
	var list []Dependency
	for _, s := range c.services() {
		active, _ := s.state()
		list = append(list, Dependency{Dependency: s.name, Faults: faultsOf(s.name), Active: active})
	}
	return list
}

// Set switches a dependency to a fault, or back to normal with None, and returns when
// the change has taken effect. It returns ErrUnknown, with the valid names, for other
// names. After any other error the port could not be opened and the dependency still
// refuses connections.
func (c *Cloud) Set(dependency, fault string) error {
	var names []string
	for _, s := range c.services() {
		if s.name == dependency {
			return s.set(fault)
		}
		names = append(names, s.name)
	}
	return fmt.Errorf("%w dependency %.32q: expected one of %s", ErrUnknown, dependency, strings.Join(names, ", "))
}

// checkFault returns an error unless the dependency has the fault.
func checkFault(dependency, fault string) error {
	names := append([]string{None}, faultsOf(dependency)...)
	if slices.Contains(names, fault) {
		return nil
	}
	return fmt.Errorf("%w fault %.32q of %s: expected one of %s", ErrUnknown, fault, dependency, strings.Join(names, ", "))
}

func faultsOf(dependency string) []string {
	common := []string{faultRefuse, faultHang, faultSlow, faultEmpty, fault401, fault403, fault500, fault503}
	switch dependency {
	case "kubernetes":
		return append(common, faultDropWatch, faultFreezeWatch, faultDenyAccess, faultRemoveCRD)
	case "keystone":
		return append(common, faultPassword, faultNoEndpoint)
	default:
		return append(common, faultExhaust, faultLowPorts, faultRevoke)
	}
}
