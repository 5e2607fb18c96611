package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/vitals-health/vitals"
)

func main() {
	checks := []vitals.Collector{vitals.Check("spool", spool)}
	v, err := vitals.New(vitals.Options{ConfigFile: "vitals.yml", Collectors: checks})
	if err != nil {
		log.Fatal(err)
	}
	go v.Run(context.Background())
	log.Fatal(http.ListenAndServe(os.Args[1], v.Handler()))
}

func spool(context.Context) error {
	_, err := os.Stat("spool")
	return err
}
