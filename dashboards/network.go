package dashboards

// echoes returns the panels of the kind icmp.
func echoes() []line {
	trip := func(which string) string {
		return `max by (dependency) (vitals_icmp_round_trip_` + which + `_seconds{` + ofDependency + `})`
	}
	return []line{{8, []panel{
		graph("Packet loss",
			"The share of the echo requests to each address without a reply. At 100 % the address is down, or answers no echo requests.",
			numbers("percentunit").from(0.1, yellow).from(1, red), over(`max by (dependency) (vitals_icmp_loss_ratio{`+ofDependency+`})`, "{{dependency}}")),
		graph("Round-trip times",
			"How long echo requests and their replies were on the way. The distance of the shortest from the longest is the jitter.",
			numbers("s"), over(trip("mean"), "{{dependency}}"), over(trip("min"), "{{dependency}} shortest"), over(trip("max"), "{{dependency}} longest")),
		table("Echo requests now",
			"The requests and replies of the last collection, and the time to live of the last reply. Another TTL shows another route.",
			"No ICMP check",
			[]column{
				{field: "dependency", title: "Dependency"}, {field: "Value #A", title: "Sent", display: new(numbers("none").below("text"))},
				{field: "Value #B", title: "Replies", display: new(numbers("none").below("text"))}, {field: "Value #C", title: "TTL", display: new(numbers("none").below("text"))},
			},
			now(`max by (dependency) (vitals_icmp_requests_sent{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_icmp_replies_received{`+ofDependency+`})`, ""),
			now(`min by (dependency) (vitals_icmp_reply_ttl{`+ofDependency+`})`, "")),
	}}}
}

// certificates returns the panels of the kind certificate.
func certificates() []line {
	worst := func(metric string) string {
		return `min by (dependency, certificate) (` + least(metric+`{`+ofDependency+`}`) + `)`
	}
	return []line{
		{8, []panel{
			timeline("Certificates that can be read",
				"Whether each file or secret was read and has certificates. The reason of a failure is in the section of dependencies.",
				switches("FAIL", "OK"), over(worst("vitals_certificate_readable"), "{{dependency}} {{certificate}}")),
			timeline("Trusted chains",
				"Whether the chain of each certificate leads to a trusted one, and is valid now. FAIL: expired, not yet valid, or signed by an unknown authority.",
				switches("FAIL", "OK"), over(worst("vitals_certificate_verified"), "{{dependency}} {{certificate}}")),
			timeline("Private keys",
				"Whether the private key belongs to each certificate. A server does not start with another one.",
				switches("OTHER", "OK"), over(worst("vitals_certificate_key_matches"), "{{dependency}} {{certificate}}")),
		}},
		{8, []panel{
			timeline("Names of certificates",
				"Whether each certificate is for the configured names. Clients reject a server whose certificate is for another name.",
				switches("OTHER", "OK"),
				over(`min by (dependency, certificate, name) (`+least(`vitals_certificate_name_covered{`+ofDependency+`}`)+`)`, "{{dependency}} {{certificate}} {{name}}")),
			table("Certificates now",
				"How long each certificate remains valid, and for how long it has been.",
				"No certificate is read",
				[]column{
					{field: "dependency", title: "Dependency"}, {field: "certificate", title: "Certificate"},
					{field: "Value #A", title: "Expires in", display: new(numbers("dtdhms").below("text"))},
					{field: "Value #B", title: "Valid for", display: new(numbers("dtdhms").below("text"))},
				},
				now(`min by (dependency, certificate) (vitals_certificate_expiry_timestamp_seconds{`+ofDependency+`} - time())`, ""),
				now(`min by (dependency, certificate) (time() - vitals_certificate_not_before_timestamp_seconds{`+ofDependency+`})`, "")),
		}},
	}
}
