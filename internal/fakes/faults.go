package fakes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// None is the fault of a dependency that works.
const None = "none"

// The faults that every stand-in has. A fault that answers requests also ends the
// watches that run; hang leaves them open and silent, and slow leaves them alone.
const (
	faultRefuse      = "refuse" // nobody listens, and open connections are dropped
	faultHang        = "hang"   // connections are accepted, nothing is ever answered
	faultSlow        = "slow"   // right answers, late
	faultEmpty       = "empty"  // connections are closed without a reply
	fault401         = "401"
	fault403         = "403"
	fault500         = "500"
	fault503         = "503"
	faultDropWatch   = "drop-watch"          // kubernetes: watches are accepted and closed at once
	faultFreezeWatch = "freeze-watch"        // kubernetes: watches stay open and silent
	faultDenyAccess  = "deny-access"         // kubernetes: get, list and watch are forbidden
	faultRemoveCRD   = "remove-crd"          // kubernetes: Kuryr's custom resources are gone
	faultPassword    = "wrong-password"      // keystone: the password has changed, so tokens are void
	faultNoEndpoint  = "no-network-endpoint" // keystone: the catalog has no endpoint of Neutron
	faultExhaust     = "exhaust-ports"       // neutron: 10 of 10 ports are used
	faultLowPorts    = "low-ports"           // neutron: 8 of 10 ports are used
	faultRevoke      = "revoke-token"        // neutron: tokens issued before are rejected
)

// ErrUnknown is what the error of Set is when the dependency or the fault does not exist.
var ErrUnknown = errors.New("unknown")

// Dependency is one stand-in and its faults.
type Dependency struct {
	// Dependency is kubernetes, keystone or neutron.
	Dependency string `json:"dependency"`
	// Faults are the names that Set takes beside None.
	Faults []string `json:"faults"`
	// Active is the fault that is switched on, or None.
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

// Set switches a dependency to a fault, and with None back to health, and returns
// when the change has taken effect. It returns ErrUnknown, with what does exist,
// for other names; any other error means that the port could not be opened again,
// in which case the dependency still refuses.
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
