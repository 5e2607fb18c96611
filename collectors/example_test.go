package collectors_test

import (
	"fmt"

	"github.com/vitals-health/vitals/collectors"
)

func ExampleBatch_Set() {
	queueLength := collectors.NewGauge("example_queue_length", "Number of messages in the queue.", "component", "queue")

	var b collectors.Batch
	b.Set(queueLength, 3, "mail", "outgoing")
	b.Set(queueLength, 0, "mail")
	for _, s := range b.Samples {
		fmt.Println(s.Labels, s.Value)
	}
	// Output:
	// {__name__="example_queue_length", component="mail", queue="outgoing"} 3
	// {__name__="example_queue_length", component="mail"} 0
}

func ExampleCatalog() {
	up := collectors.NewGauge("example_up", "Whether the server is up (1) or not (0).", "dependency")
	queueLength := collectors.NewGauge("example_queue_length", "Number of messages in the queue.", "dependency", "queue")

	c := collectors.NewCatalog([]*collectors.Def{up, queueLength}, "dependency", "mail")
	c.Bools(up)
	c.Configured("queue", []string{"incoming", "outgoing"}, queueLength)
	c.Vanishing(queueLength)
	for _, m := range c.List() {
		fmt.Println(m.Name, m.Labels, m.Bool, m.Vanishes)
	}
	// Output:
	// example_up map[dependency:[mail]] true false
	// example_queue_length map[dependency:[mail] queue:[incoming outgoing]] false true
}
