package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/text"
)

// balancers appends the states of the configured load balancers. One that cannot be read has no
// sample.
func (r *serviceCollection) balancers(ctx context.Context, b *collectors.Batch) error {
	var errs []error
	for _, name := range r.s.balancers {
		tree, err := r.balancer(ctx, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		b.Set(balancerPresentMetric, collectors.Number(tree != nil), r.s.name, name)
		if tree != nil {
			tree.add(b, r.s.name, name)
		}
	}
	return errors.Join(errs...)
}

// balancer returns the states of the load balancer with this name, and nil if there is none. Names
// are not unique in Octavia.
func (r *serviceCollection) balancer(ctx context.Context, name string) (*balancerTree, error) {
	var found balancerList
	if _, err := r.get(ctx, "lbaas/loadbalancers?fields=id&name="+url.QueryEscape(name), &found); err != nil {
		return nil, err
	}
	switch len(found.Balancers) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, fmt.Errorf("%d load balancers have the name %q: expected one", len(found.Balancers), text.Short(name, 64))
	}
	var response balancerResponse
	_, err := r.get(ctx, "lbaas/loadbalancers/"+url.PathEscape(found.Balancers[0].ID)+"/status", &response)
	if reasonOf(err) == remote.ReasonNotFound {
		return nil, nil // deleted since
	}
	return response.Statuses.Balancer, err
}

// balancerList is the response to GET /v2.0/lbaas/loadbalancers.
type balancerList struct {
	Balancers []struct {
		ID string `json:"id"`
	} `json:"loadbalancers"`
}

func (l *balancerList) validate() error {
	if l.Balancers == nil {
		return errors.New(`the response has no "loadbalancers"`)
	}
	for _, b := range l.Balancers {
		if b.ID == "" {
			return errors.New("a load balancer has no id")
		}
	}
	return nil
}

// balancerResponse is the response to GET /v2.0/lbaas/loadbalancers/{id}/status.
type balancerResponse struct {
	Statuses struct {
		Balancer *balancerTree `json:"loadbalancer"`
	} `json:"statuses"`
}

func (a *balancerResponse) validate() error {
	if a.Statuses.Balancer == nil {
		return errors.New(`the response has no "loadbalancer"`)
	}
	return nil
}

// balancerTree has the states of a load balancer and of its parts.
type balancerTree struct {
	Provisioning string `json:"provisioning_status"`
	Operating    string `json:"operating_status"`
	Listeners    []struct {
		Operating string `json:"operating_status"`
		Pools     []struct {
			ID      string `json:"id"`
			Members []struct {
				Operating string `json:"operating_status"`
			} `json:"members"`
		} `json:"pools"`
	} `json:"listeners"`
}

// provisioningStatuses and operatingStatuses are Octavia's (octavia-lib, constants.py).
func provisioningStatuses() []string {
	return []string{"active", "deleted", "error", "pending_create", "pending_delete", "pending_update", otherStatus}
}

func operatingStatuses() []string {
	return []string{"online", "degraded", "draining", "error", "no_monitor", "offline", otherStatus}
}

// balancerCounts are the parts of a load balancer. A pool of several listeners counts once.
type balancerCounts struct {
	listeners, members map[string]int
	// smallest is the number of members of the pool with the fewest; -1 without a pool.
	smallest int
}

func (t *balancerTree) counts() balancerCounts {
	counts := balancerCounts{map[string]int{}, map[string]int{}, -1}
	seen := map[string]bool{}
	for _, listener := range t.Listeners {
		counts.listeners[closed(listener.Operating, operatingStatuses())]++
		for _, pool := range listener.Pools {
			if pool.ID != "" && seen[pool.ID] {
				continue
			}
			seen[pool.ID] = true
			if counts.smallest < 0 || len(pool.Members) < counts.smallest {
				counts.smallest = len(pool.Members)
			}
			for _, member := range pool.Members {
				counts.members[closed(member.Operating, operatingStatuses())]++
			}
		}
	}
	return counts
}

// add appends the states of the load balancer with this name.
func (t *balancerTree) add(b *collectors.Batch, dependency, name string) {
	provisioning, operating := closed(t.Provisioning, provisioningStatuses()), closed(t.Operating, operatingStatuses())
	for _, status := range provisioningStatuses() {
		b.Set(balancerProvisioningMetric, collectors.Number(status == provisioning), dependency, name, status)
	}
	counts := t.counts()
	for _, status := range operatingStatuses() {
		b.Set(balancerOperatingMetric, collectors.Number(status == operating), dependency, name, status)
		b.Set(balancerListenersMetric, float64(counts.listeners[status]), dependency, name, status)
		b.Set(balancerMembersMetric, float64(counts.members[status]), dependency, name, status)
	}
	if counts.smallest >= 0 {
		b.Set(balancerSmallestPoolMetric, float64(counts.smallest), dependency, name)
	}
}
