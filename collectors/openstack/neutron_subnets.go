package openstack

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/internal/text"
)

// maxSubnets bounds the subnets of one collector, each of which costs two requests a collection.
const maxSubnets = 20

// subnets appends the addresses of the configured subnets. One that cannot be read has no sample.
func (r *neutronCollection) subnets(ctx context.Context, b *collectors.Batch) error {
	var errs []error
	for _, name := range r.n.subnets {
		errs = append(errs, r.subnet(ctx, b, name))
	}
	return errors.Join(errs...)
}

// subnet appends the addresses of the subnet with this name. Names are not unique in Neutron.
func (r *neutronCollection) subnet(ctx context.Context, b *collectors.Batch, name string) error {
	var found neutronSubnets
	if _, err := r.get(ctx, "subnets?fields=id&fields=allocation_pools&name="+url.QueryEscape(name), &found); err != nil {
		return err
	}
	switch len(found.Subnets) {
	case 0:
		b.Set(neutronSubnetPresentMetric, 0, r.n.name, name)
		return nil
	case 1:
	default:
		return fmt.Errorf("%d subnets have the name %q: expected one", len(found.Subnets), text.Short(name, 64))
	}
	subnet := found.Subnets[0]
	var ports neutronPorts
	if _, err := r.get(ctx, "ports?fields=fixed_ips&fixed_ips="+url.QueryEscape("subnet_id="+subnet.ID), &ports); err != nil {
		return err
	}
	b.Set(neutronSubnetPresentMetric, 1, r.n.name, name)
	b.Set(neutronSubnetAddressesMetric, subnet.size(), r.n.name, name)
	b.Set(neutronSubnetUsedMetric, float64(ports.used(subnet)), r.n.name, name)
	return nil
}

// neutronSubnets is the response to GET /v2.0/subnets.
type neutronSubnets struct {
	Subnets []neutronSubnet `json:"subnets"`
}

type neutronSubnet struct {
	ID    string           `json:"id"`
	Pools []allocationPool `json:"allocation_pools"`
}

// allocationPool is a range of addresses, with both ends.
type allocationPool struct {
	Start netip.Addr `json:"start"`
	End   netip.Addr `json:"end"`
}

func (a *neutronSubnets) validate() error {
	if a.Subnets == nil {
		return errors.New(`the response has no "subnets"`)
	}
	for _, s := range a.Subnets {
		if s.ID == "" {
			return errors.New("a subnet has no id")
		}
		for _, p := range s.Pools {
			if !p.Start.IsValid() || p.Start.BitLen() != p.End.BitLen() || p.End.Less(p.Start) {
				return errors.New("a subnet has an allocation pool that is no range of addresses")
			}
		}
	}
	return nil
}

// size returns the number of addresses in the pools, of which IPv6 has more than an integer holds.
func (s neutronSubnet) size() float64 {
	sum := new(big.Int)
	for _, p := range s.Pools {
		first, last := new(big.Int).SetBytes(p.Start.AsSlice()), new(big.Int).SetBytes(p.End.AsSlice())
		sum.Add(sum, last.Sub(last, first)).Add(sum, big.NewInt(1))
	}
	size, _ := new(big.Float).SetInt(sum).Float64()
	return size
}

// has reports whether the address is in one of the pools.
func (s neutronSubnet) has(address netip.Addr) bool {
	for _, p := range s.Pools {
		if p.Start.BitLen() == address.BitLen() && p.Start.Compare(address) <= 0 && address.Compare(p.End) <= 0 {
			return true
		}
	}
	return false
}

// neutronPorts is the response to GET /v2.0/ports.
type neutronPorts struct {
	Ports []struct {
		FixedIPs []struct {
			Subnet  string     `json:"subnet_id"`
			Address netip.Addr `json:"ip_address"`
		} `json:"fixed_ips"`
	} `json:"ports"`
	Links []pageLink `json:"ports_links"`
}

func (a *neutronPorts) validate() error {
	if a.Ports == nil {
		return errors.New(`the response has no "ports"`)
	}
	for _, link := range a.Links {
		if link.Rel == "next" {
			return fmt.Errorf("neutron lists only %d ports at once: its pagination_max_limit is less than their number", len(a.Ports))
		}
	}
	return nil
}

// used returns the number of addresses in the pools of the subnet that ports have. That of its
// gateway usually is outside of them.
func (a *neutronPorts) used(subnet neutronSubnet) int {
	used := map[netip.Addr]bool{}
	for _, port := range a.Ports {
		for _, ip := range port.FixedIPs {
			if ip.Subnet == subnet.ID && subnet.has(ip.Address) {
				used[ip.Address] = true
			}
		}
	}
	return len(used)
}
