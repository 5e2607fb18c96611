// Bare is the program of docs/guides/embedding.md without Vitals: a server with metrics. The
// difference of the two is what Vitals adds.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	log.Fatal(http.ListenAndServe(os.Args[1], promhttp.Handler()))
}
