package kuryrconf_test

import (
	"fmt"
	"os"

	"github.com/vitals-health/vitals/internal/profiles/kuryrconf"
)

func ExampleParse() {
	const path = "testdata/complete.conf"
	data, err := os.ReadFile(path)
	if err != nil {
		fmt.Println(err)
	}
	config, errs := kuryrconf.Parse(path, string(data))
	for _, err := range errs {
		fmt.Println(err)
	}
	fmt.Println(config.Health.Port, config.Neutron.AuthURL, config.Neutron.Password)
	// Output: 8191 https://keystone.example.org:5000/v3 <secret>
}
