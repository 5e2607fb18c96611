package alerts

func selfCases() map[string][]alertCase {
	certificate := map[string]string{"dependency": "registry"}
	return map[string][]alertCase{
		"VitalsDown": {
			{
				name: "the scrape fails", series: []string{`up{} 1x4 0x20 1x10`},
				moments: []moment{
					silent("3m"),
					fires("3m15s", theInstance+" has not answered Prometheus for two minutes. If it is down, the probes that it answers fail.", nil),
					silent("6m30s"),
				},
			},
			{
				name: "there is no target", series: []string{`up{job="other"} 1x20`},
				moments: []moment{
					silent("1m45s"),
					{"2m", []instance{{absent: true, description: `Prometheus has had no target with {$job} for two minutes. If it is down, the probes that it answers fail.`}}},
				},
			},
			{name: "only something else is down", series: []string{`up{} 1x20`, `up{job="other"} 0x20`}, moments: []moment{silent("5m")}},
		},
		"VitalsEvaluatorStale": {
			{
				name: "the evaluation stops after a minute", series: []string{`vitals_evaluation_timestamp_seconds{} 0+15x4 60x20`},
				moments: []moment{
					silent("3m"),
					fires("3m15s", "When "+theInstance+` was scraped, its last evaluation was 2m 15s old. Its probes fail with "evaluator stalled".`, nil),
				},
			},
			{name: "a minute passes between evaluations", series: []string{`vitals_evaluation_timestamp_seconds{} 0x3 60x3 120x3 180x3 240x3 300x3`}, moments: []moment{silent("5m45s")}},
		},
		"VitalsRestarting": {
			{
				name: "three starts", series: []string{`process_start_time_seconds{} 0x20 300x20 600x20 900x120`},
				moments: []moment{silent("15m30s"), fires("15m45s", theInstance+" has started 3 times within half an hour. Each time its rules begin to wait anew.", nil), silent("45m")},
			},
			{name: "an upgrade and a second one", series: []string{`process_start_time_seconds{} 0x20 300x20 600x80`}, moments: []moment{silent("25m")}},
		},
		"VitalsCollectorFailing": {
			{
				name: "one of two fails", series: []string{`vitals_collector_success{collector="keystone"} 1x4 0x60 1x10`, `vitals_collector_success{collector="kubernetes"} 1x80`},
				moments: []moment{
					silent("11m"),
					fires("11m15s", "The collector keystone of "+theInstance+" has failed for ten minutes, or has not ended in time.", map[string]string{"collector": "keystone"}),
					silent("16m30s"),
				},
			},
		},
		"VitalsReloadFailed": {
			{
				name: "a mistake, and its cure", series: []string{`vitals_config_last_reload_successful{} 1x4 0x30 1x10`},
				moments: []moment{
					silent("6m"),
					fires("6m15s", theInstance+" could not load its configuration when it changed. It will not start with it either.", nil),
					silent("9m"),
				},
			},
		},
		"VitalsCertificateExpiring": {
			{
				// 605100 is a week and five minutes, 649800 half a day more.
				name: "a server's certificate runs out", series: []string{`vitals_tls_certificate_expiry_timestamp_seconds{dependency="registry"} 605100x80`, `vitals_kubernetes_certificate_expiry_timestamp_seconds{dependency="kubernetes"} 649800x80`},
				moments: []moment{
					silent("15m"),
					fires("15m15s", "The certificate of registry, as "+theInstance+" sees it, has 6d 23h 49m 45s left.", certificate),
				},
			},
			{
				name: "the API server's has run out", series: []string{`vitals_kubernetes_certificate_expiry_timestamp_seconds{dependency="kubernetes"} 0x80`},
				moments: []moment{fires("10m", "The certificate of kubernetes, as "+theInstance+" sees it, has -10m 0s left.", map[string]string{"dependency": "kubernetes"})},
			},
		},
		"VitalsClientCertificateExpiring": {
			{
				name: "an hour is left", series: []string{`vitals_kubernetes_client_certificate_expiry_timestamp_seconds{dependency="kubernetes"} 4200x80`},
				moments: []moment{
					silent("9m45s"),
					fires("10m", "The client certificate of "+theInstance+" for kubernetes has 1h 0m 0s left.", map[string]string{"dependency": "kubernetes"}),
				},
			},
			{name: "a week and a half day are left", series: []string{`vitals_kubernetes_client_certificate_expiry_timestamp_seconds{dependency="kubernetes"} 649800x80`}, moments: []moment{silent("15m")}},
		},
	}
}
