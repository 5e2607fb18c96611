package evaluator_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/evaluator"
)

// sites is a collector of several targets.
type sites struct {
	*stub
	notes map[string]string
}

func (s *sites) PartNotes() (string, map[string]string) { return "dependency", maps.Clone(s.notes) }

// A rule about one of several targets names their collector, and has the target's error, also
// where another collector exports the same metric.
func TestFindingsOfATarget(t *testing.T) {
	const rules = `
groups:
  - name: g
    rules:
      - {alert: ShopDown, expr: 'up{dependency="shop"} == 0'}
      - {alert: WebGone, expr: 'up{dependency="web"} == 0'}
      - {alert: AnyDown, expr: min(up) == 0}
`
	synctest.Test(t, func(t *testing.T) {
		several := &sites{&stub{
			collect: func(context.Context) ([]collectors.Sample, error) {
				return []collectors.Sample{sample(0, "up", "dependency", "shop")}, errors.New("2 of 3 targets failed")
			},
			descs: []collectors.Desc{{Name: "up", Help: "Help.", Type: model.MetricTypeGauge}},
		}, map[string]string{"shop": "000 refused", "web": "no result", "well": ""}}
		e, stop := start(t, evaluator.Config{Files: parse(t, rules), Sources: []evaluator.Source{failing("keystone", 0, errors.New("401"), "up"), source("sites", several)}})
		defer stop()
		time.Sleep(time.Second)
		type shown struct {
			Note       string
			Collectors string
		}
		got := map[string]shown{}
		for _, r := range e.Snapshot().Rules {
			got[r.Name] = shown{r.Note, strings.Join(r.Collectors, " ")}
		}
		want := map[string]shown{
			"ShopDown": {"dependency shop: 000 refused", "sites"},
			"WebGone":  {"dependency web: no result", "sites"},
			"AnyDown":  {"collector keystone fails: 401; collector sites fails: 2 of 3 targets failed; dependency shop: 000 refused; dependency web: no result", "keystone sites"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rules differ (-want +got):\n%s", diff)
		}
	})
}
