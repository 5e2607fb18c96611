package scrape_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/scrape"
	"github.com/vitals-health/vitals/internal/budget"
)

// A target whose series do not fit into the memory fails with that reason.
func TestSeriesBeyondTheMemory(t *testing.T) {
	var body strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&body, "a{b=\"%d\"} 1\n", i)
	}
	config := &scrape.Config{URL: newTarget(t, textFormat, body.String()).URL}
	config.SetDefaults()
	c, err := config.New(collectors.Env{Name: "target", Memory: budget.New(64 << 10).Account()})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := collectortest.Collect(t, c)
	if got := reason(t, samples); got != "memory" || err == nil {
		t.Errorf("reason = %q, error %v, want memory", got, err)
	}
}
