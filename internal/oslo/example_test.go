package oslo_test

import (
	"fmt"

	"github.com/vitals-health/vitals/internal/oslo"
)

func ExampleParse() {
	file, errs := oslo.Parse("[DEFAULT]\nmy_ip = 192.0.2.1\n[vnc]\nhost = $my_ip\nport\n")
	for _, err := range errs {
		fmt.Println(err.In("nova.conf"))
	}
	host, _ := file.Option("vnc", "host")
	fmt.Println(file.Resolve("vnc", host))
	// Output:
	// nova.conf:5: no "=" or ":": expected a section, "name = value", a comment or an indented continuation of the value above
	// 192.0.2.1 <nil>
}
