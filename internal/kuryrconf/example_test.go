package kuryrconf_test

import (
	"fmt"

	"github.com/vitals-health/vitals/internal/kuryrconf"
)

func ExampleLoad() {
	config, errs := kuryrconf.Load("testdata/complete.conf")
	for _, err := range errs {
		fmt.Println(err)
	}
	fmt.Println(config.Health.Port, config.Neutron.AuthURL, config.Neutron.Password)
	// Output: 8191 https://keystone.example.org:5000/v3 <secret>
}
