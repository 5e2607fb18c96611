package fakes_test

import (
	"fmt"
	"net/http"

	"github.com/vitals-health/vitals/internal/fakes"
)

func Example() {
	cloud, err := fakes.Start(fakes.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cloud.Close()
	if err := cloud.Set("keystone", "503"); err != nil {
		fmt.Println(err)
		return
	}
	resp, err := http.Get(cloud.KeystoneURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	http.DefaultClient.CloseIdleConnections()
	// Output: 503 Service Unavailable
}
