package texttemplate_test

// corpus contains templates that must expand as in Prometheus. Those
// in the groups "error" and "syntax error" fail with the value 3; all others do not.
func corpus() map[string][]string {
	return map[string][]string{
		"text": {
			"", "plain", "a } b }}", "{ {", "{{/* comment */}}x", "a {{- /* c */ -}} b", "é ü 漢 \xff", "{{``}}{{`raw \"x\"`}}",
			" {{- 3 -}} ", "{{\"{{\"}}", "x {{ 3 -}}\n y",
		},
		"value": {
			"{{ $value }}", "{{ .Value }}", "{{ $.Value }}", "{{ $labels.job }} {{ .Labels.job }} {{ $.Labels.job }}", "{{ $labels.none }}|",
			"{{ $labels }}", "{{ . }}", "{{ $ }}", "{{ $externalLabels.cluster }}", "{{ $externalLabels }}", "{{ $externalURL }} {{ .ExternalURL }}",
			"{{ (.Labels).job }}", "{{ (($labels)).job }}", "{{ $value | printf \"%.2f\" }}", "{{ printf \"%.1f%%\" $value }}",
			"{{ print $value }}", "{{ println $value }}", "{{ $labels.job | toUpper | printf \"%s-%s\" \"x\" }}",
		},
		"constant": {
			"{{ 1 }} {{ 1.5 }} {{ 1e3 }} {{ 0x1f }} {{ 'a' }} {{ 1i }} {{ true }} {{ false }} {{ \"s\" }} {{ -3 }} {{ +2 }} {{ 0b11 }} {{ 0o17 }} {{ 1_000 }} {{ 0x1p4 }} {{ 1.0 }}",
			"{{ 9223372036854775807 }}", "{{ 1e100 }}", "{{ '\\n' }}", "{{ print nil }}", "{{ -0x1e }} {{ 0xe }} {{ .5 }} {{ 'e' }}", "{{ 2i | print }}",
		},
		"variable": {
			"{{ $x := 3 }}{{ $x }}", "{{ $x := 3 }}{{ $x = 4 }}{{ $x }}", "{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}",
			"{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}", "{{ $labels = 3 }}{{ $labels }}", "{{ with $x := 3 }}{{ $x }}{{ . }}{{ end }}",
			"{{ if $x := $labels.job }}{{ $x }}{{ end }}", "{{ $x := $labels }}{{ $x.job }}", "{{ $x := and nil }}{{ $x }}{{ $x.foo }}{{ $x.foo.bar }}",
			"{{ $v := .Value }}{{ $v }}{{ $v := 2 }}{{ $v }}", "{{ $x := 1 | print }}{{ $x }}", "{{ with $y := 3 }}{{ $y = 4 }}{{ . }}{{ $y }}{{end}}",
		},
		"if": {
			"{{ if gt $value 3.0 }}high{{ else if gt $value 1.0 }}mid{{ else }}low{{ end }}", "{{ if $labels.job }}yes{{ end }}", "{{ if $labels.none }}yes{{ else }}no{{ end }}",
			"{{ if and $labels.job (eq $labels.job \"api\") }}api{{ end }}", "{{ if not $labels.none }}x{{ end }}", "{{ if .Value }}t{{ else }}f{{ end }}",
			"{{ if 0 }}t{{ else }}f{{ end }}{{ if 0.0 }}t{{ else }}f{{ end }}{{ if \"\" }}t{{ else }}f{{ end }}{{ if 1i }}t{{ end }}{{ if 0i }}t{{ else }}f{{ end }}",
			"{{ if . }}t{{ end }}{{ if $labels }}t{{ else }}f{{ end }}{{ if query \"empty\" }}t{{ else }}f{{ end }}{{ if query \"x\" }}t{{ end }}", "{{ if and nil }}t{{ else }}f{{ end }}",
			"{{ if toTime 3 }}t{{ end }}{{ if toDuration 0 }}t{{ end }}{{ if (toDuration 0).Abs }}t{{ else }}f{{ end }}", "{{ if print }}t{{ else if print 1 }}u{{ end }}",
		},
		"with": {
			"{{ with $labels.job }}{{ . }}{{ end }}", "{{ with $labels.none }}{{ . }}{{ else }}none{{ end }}", "{{ with $labels }}{{ .job }}{{ $.Value }}{{ end }}",
			"{{ with $labels.none }}a{{ else with $labels.job }}{{ . }}{{ end }}", "{{ with query \"x\" }}{{ . | first | value }}{{ end }}", "{{ with .Value }}{{ . }}{{ else }}{{ .Value }}{{ end }}",
		},
		"range": {
			"{{ range query \"up\" }}{{ .Labels.job }}={{ .Value }} {{ end }}", "{{ range query \"empty\" }}x{{ else }}none{{ end }}", "{{ range $i, $s := query \"up\" }}{{ $i }}:{{ $s.Labels.host }}:{{ .Value | humanize }};{{ end }}",
			"{{ range $s := query \"up\" }}{{ $s.Value }}{{ end }}", "{{ range $k, $v := $labels }}{{ $k }}={{ $v }} {{ end }}", "{{ range $labels }}{{ . }},{{ end }}", "{{ range $v := $labels }}{{ $v }},{{ end }}",
			"{{ range 3 }}{{ . }}{{ end }}", "{{ range $i := 3 }}{{ $i }}{{ end }}", "{{ range 0 }}x{{ else }}none{{ end }}", "{{ range -2 }}x{{ else }}none{{ end }}",
			"{{ range 5 }}{{ if eq . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}", "{{ range 5 }}{{ if eq . 3 }}{{ continue }}{{ end }}{{ . }}{{ end }}",
			"{{ range 3 }}{{ $i := . }}{{ range 3 }}{{ if gt . $i }}{{ break }}{{ end }}{{ $i }}{{ . }} {{ end }}{{ end }}", "{{ range 3 }}{{ range 0 }}{{ else }}{{ break }}{{ end }}{{ . }}{{ end }}",
			"{{ range 3 }}{{ range 0 }}{{ else }}{{ continue }}{{ end }}{{ . }}{{ end }}", "{{ $x := 0 }}{{ range $x = 3 }}{{ $x }}{{ end }}{{ $x }}", "{{ $k := 0 }}{{ $x := 0 }}{{ range $k, $x = query \"up\" }}{{ $k }}{{ $x.Value }}{{ end }}{{ $k }}",
			"{{ range $k, $v := args 1 \"b\" nil }}{{ $k }}={{ $v }} {{ end }}", "{{ range sortByLabel \"job\" (query \"up\") }}{{ .Labels.job }}{{ end }}", "{{ range query \"up\" | sortByLabel \"host\" }}{{ label \"host\" . }}{{ end }}",
			"{{ range and nil }}x{{ else }}none{{ end }}", "{{ range args nil }}[{{ . }}]{{ end }}", "{{ range $x := 3 }}{{ $y := $x }}{{ $y }}{{ end }}", "{{ range (toTime 7).Day }}{{ . }}{{ end }}", "{{ range (toTime 7).Month }}{{ . }}{{ end }}",
			"{{ range index \"a\" 0 }}.{{ end }}", "{{ range (toDuration 1e-9) }}{{ . }}{{ end }}", "{{ range sortByLabel \"x\" nil }}{{ else }}none{{ end }}", "{{ range $i, $e := slice (query \"up\") 1 3 }}{{ $i }}{{ $e.Value }}{{ end }}",
			"{{ $last := \"\" }}{{ range query \"up\" }}{{ $last = .Labels.job }}{{ end }}{{ $last }}",
		},
		"template": {
			"{{ define \"x\" }}[{{ . }}]{{ end }}{{ template \"x\" $value }}", "{{ define \"x\" }}[{{ . }}]{{ end }}{{ template \"x\" }}", "{{ define \"x\" }}{{ .foo.bar }}{{ $.baz }}{{ end }}{{ template \"x\" }}",
			"{{ block \"b\" $labels.job }}<{{ . }}>{{ end }}", "{{ define \"x\" }}{{ .arg0 }}-{{ .arg1 }}{{ end }}{{ template \"x\" (args 1 \"two\") }}", "{{ define \"x\" }}{{ if gt . 0 }}{{ . }}{{ template \"x\" 0 }}{{ end }}{{ end }}{{ template \"x\" 2 }}",
			"{{ define \"e\" }} {{ end }}a{{ template \"e\" }}b", "{{ define \"x\" }}{{ $ }}{{ end }}{{ range 2 }}{{ template \"x\" . }}{{ end }}", "{{ define \"x\" }}{{ .Labels.job }}{{ end }}{{ template \"x\" . }}", "{{ define \"x\" }}{{ end }}{{ template \"x\" $y := 3 }}{{ $y }}",
			"{{ define \"x\" }}{{ . }}{{ end }}{{ template \"x\" args }}{{ template \"x\" (args nil).arg0 }}",
		},
		"comparison": {
			"{{ eq 1 1 }}{{ eq 1 2 3 1 }}{{ ne 1 2 }}{{ lt 1 2 }}{{ le 2 2 }}{{ gt 1 2 }}{{ ge 2 2 }}", "{{ eq \"a\" \"a\" }}{{ lt \"a\" \"b\" }}{{ ge \"b\" \"a\" }}", "{{ eq 1.5 1.5 }}{{ lt 1.5 2.5 }}", "{{ eq $value $value }}{{ lt $value $value }}{{ le $value $value }}{{ gt $value $value }}{{ ge $value $value }}{{ ne $value $value }}",
			"{{ gt $value 0.5 }}{{ ge $value 0.5 }}{{ lt $value 0.5 }}{{ le $value 0.5 }}{{ eq $value 3.0 }}{{ ne $value 3.0 }}", "{{ eq true true }}{{ eq true false }}{{ ne true false }}", "{{ eq 1i 1i }}", "{{ eq nil nil }}{{ eq \"a\" nil }}{{ ne nil 1 }}{{ eq $labels nil }}",
			"{{ eq (index \"a\" 0) 97 }}{{ eq 97 (index \"a\" 0) }}{{ lt 1 (index \"a\" 0) }}{{ lt (index \"a\" 0) 1 }}{{ lt -1 (index \"a\" 0) }}{{ lt (index \"a\" 0) (index \"b\" 0) }}{{ eq (index \"a\" 0) -1 }}",
			"{{ and 1 0 2 }}{{ or 0 2 3 }}{{ and 1 2 }}{{ or 0 \"\" }}{{ not 1 }}{{ not 0 }}{{ and nil }}{{ or nil nil }}", "{{ and false (first (query \"empty\")) }}{{ or true (query \"fail\") }}", "{{ 1 | and 2 }}{{ 0 | or 0 }}{{ 3 | not }}{{ 1 | and }}",
			"{{ eq (toTime 3) (toTime 3) }}{{ eq (toTime 3).UTC (toTime 3).UTC }}{{ eq (toDuration 3).Abs (toDuration 3).Abs }}", "{{ eq (safeHtml \"a\") \"a\" }}{{ lt (safeHtml \"a\") \"b\" }}", "{{ eq (first (query \"x\")) (first (query \"x\")) }}", "{{ $s := first (query \"x\") }}{{ eq $s $s }}",
			"{{ eq (toTime 3).Month 1 }}{{ lt (toTime 3).Year 2000 }}", "{{ eq . (toTime 3).UTC }}", "{{ eq (args nil).arg0 nil }}{{ eq (args nil).arg0 1 }}", "{{ eq .Value (index (query \"time\") 0).Value }}", "{{ lt (toDuration 3).Nanoseconds 5 }}",
		},
		"collection": {
			"{{ len \"abc\" }}{{ len $labels }}{{ len (query \"x\") }}{{ len args }}{{ len \"\" }}", "{{ index $labels \"job\" }}{{ index $labels \"none\" }}|", "{{ index (query \"up\") 1 | value }}", "{{ (index (query \"up\") 0).Labels.job }}", "{{ index \"abc\" 1 }}", "{{ index $labels }}",
			"{{ slice \"abcdef\" 1 3 }}{{ slice \"abc\" }}{{ slice \"abc\" 2 }}{{ slice \"abc\" 3 }}", "{{ len (slice (query \"x\") 1 3) }}{{ len (slice (query \"x\") 1 2 3) }}{{ len (slice (slice (query \"x\") 0 1) 0 3) }}", "{{ index (args 1 (args 2)) \"arg1\" \"arg0\" }}",
			"{{ index $labels \"job\" 0 }}", "{{ index (args) \"x\" }}", "{{ index (query \"x\") (index \"\\x01\" 0) | value }}", "{{ len (toTime 3).String }}", "{{ slice (safeHtml \"abc\") 1 }}", "{{ len (args 1 2) | print }}",
		},
		"print": {
			"{{ print 1 2 \"a\" \"b\" 3 }}", "{{ print }}|{{ println }}|", "{{ printf \"%d %s %v %q %x %t\" 1 \"a\" 2.5 \"q\" 255 true }}", "{{ printf \"%d\" \"no\" }}", "{{ printf \"%5.2f|%-8s|%08d|%*d\" 3.14159 \"x\" 42 6 7 }}", "{{ printf \"x\" 1 }}{{ printf \"%s\" }}{{ printf \"%!\" }}", "{{ printf \"%v %+v\" . $labels }}",
			"{{ html $labels.html }}{{ $labels.html | html }}{{ html 1 \"<\" 2 3 }}{{ html nil }}{{ html }}{{ html \"a\\x00b\" }}", "{{ js $labels.html }}{{ js \"a\\\\b\\n=é\\u2028\\U000e0001\\xff\\x7f\" }}{{ js nil }}{{ js 1 2 }}", "{{ urlquery $labels.html }}{{ urlquery \"a b\" 1 2 nil }}",
			"{{ html (toTime 3) (toDuration 3) }}{{ print (toTime 3) (toDuration 3) }}", "{{ print nil }}{{ println nil 1 }}{{ printf \"%v\" nil }}", "{{ html . }}{{ html (first (query \"x\")) }}{{ print (first (query \"x\")) }}{{ first (query \"x\") }}", "{{ query \"x\" | print }}", "{{ args 1 \"x\" nil (args 2) }}", "{{ and nil | print }}{{ and nil | html }}",
			"{{ printf \"%[2]d %[1]d\" 1 2 }}", "{{ printf \"%s %v %d\" (toTime 3) (toDuration 1.5) (toDuration 1.5).Abs }}", "{{ print (args nil).arg0 }}{{ (args nil).arg0 }}{{ (args nil).arg7 }}", "{{ index (args (first (query \"x\"))) \"arg0\" }}",
		},
		"query": {
			"{{ query \"up\" | first | value }}", "{{ query \"up\" | first | label \"job\" }}", "{{ label \"none\" (first (query \"x\")) }}|", "{{ strvalue (first (query \"x\")) }}", "{{ value (index (query \"x\") 2) }}", "{{ (query \"time\" | first).Value | printf \"%.0f\" }}", "{{ query \"up\" | sortByLabel \"job\" | first | label \"job\" }}",
			"{{ with query \"up\" }}{{ len . }} {{ (index . 3).Value | humanize1024 }}{{ end }}", "{{ (first (query \"x\")).Labels }}", "{{ printf \"up{job=%q}\" $labels.job | query | len }}", "{{ $q := query \"up\" }}{{ range sortByLabel \"job\" $q }}{{ .Labels.job }}{{ end }}{{ range $q }}{{ .Labels.job }}{{ end }}",
		},
		"humanize": {
			"{{ humanize $value }} {{ humanize1024 $value }} {{ humanizeDuration $value }} {{ humanizePercentage $value }}", "{{ humanize 1234567.0 }} {{ humanize 0.00001234 }} {{ humanize -1e30 }} {{ humanize 1e-30 }} {{ humanize 999.9999 }} {{ humanize 0 }}", "{{ humanize1024 1 }} {{ humanize1024 1048576 }} {{ humanize1024 1e30 }} {{ humanize1024 -5000 }}",
			"{{ humanizeDuration 0 }} {{ humanizeDuration 899.99 }} {{ humanizeDuration 90061 }} {{ humanizeDuration -3600 }} {{ humanizeDuration 0.0001 }} {{ humanizeDuration \"60\" }}", "{{ humanizeTimestamp 1435065584.128 }}", "{{ humanizePercentage 0.123456 }} {{ humanizePercentage \"0.5\" }} {{ humanizePercentage 1 }}",
			"{{ \"1500\" | humanize }}", "{{ toDuration 90 | print }}", "{{ (toDuration 90).Abs | humanizeDuration }}", "{{ humanize (toTime 5).Unix }}", "{{ humanize \"NaN\" }}{{ humanizeTimestamp \"+Inf\" }}",
		},
		"time": {
			"{{ toTime 1700000000 }}", "{{ (toTime 1700000000.5).Format \"2006-01-02T15:04:05.000\" }}", "{{ (1700000000 | toTime).Year }}", "{{ with toTime 1700000000 }}{{ .Year }}{{ .Month }}{{ .Day }}{{ .Hour }}{{ .Minute }}{{ .Second }}{{ .Nanosecond }}{{ .Weekday }}{{ .YearDay }}{{ .Unix }}{{ .UnixMilli }}{{ .UnixMicro }}{{ .UnixNano }}{{ .Location }}{{ .IsZero }}{{ .IsDST }}{{ .UTC }}{{ .GoString }}{{ .String }}{{ end }}",
			"{{ (toTime 3).Add 1000000000 }}", "{{ (toTime 3).Add (toDuration 60) }}", "{{ (toTime 3600).Sub (toTime 60) }}", "{{ ((toTime 3600).Sub (toTime 60)).Minutes }}", "{{ (toTime 3).After (toTime 2) }}{{ (toTime 3).Before (toTime 2) }}{{ (toTime 3).Compare (toTime 2) }}{{ (toTime 3).Equal (toTime 3) }}",
			"{{ (toTime 3).AddDate 1 2 3 }}", "{{ ((toTime 3).AddDate 0 0 1).Format \"Jan _2\" }}", "{{ (toTime 5000).Truncate 3600000000000 }}{{ (toTime 5000).Round 3600000000000 }}", "{{ (toTime 3).In (toTime 4).Location }}", "{{ \"2006\" | (toTime 3).Format }}", "{{ $t := toTime 3 }}{{ \"15:04:05\" | $t.Format }}{{ $t.UTC.Year }}",
			"{{ toDuration 3600 }}", "{{ with toDuration 5400.5 }}{{ .Hours }}{{ .Minutes }}{{ .Seconds }}{{ .Milliseconds }}{{ .Microseconds }}{{ .Nanoseconds }}{{ .Abs }}{{ .String }}{{ .Round 60000000000 }}{{ .Truncate 3600000000000 }}{{ end }}", "{{ now }}", "{{ now | humanizeTimestamp }}", "{{ (now | toTime).Format \"15:04\" }}",
			"{{ parseDuration \"1h30m\" }}{{ parseDuration \"-5m\" }}{{ parseDuration \"7ms\" }}{{ parseDuration \"0\" }}", "{{ (toTime 3).Month.String }}{{ (toTime 3).Weekday.String }}{{ (toTime 3).Location.String }}", "{{ printf \"%d\" (toTime 3).Month }}", "{{ (toTime -1e5) }}",
		},
		"string": {
			"{{ toUpper \"aé\" }}{{ toLower \"ÀB\" }}{{ title \"hello world foo_bar it's 3rd o'neil-smith ÉCOLE ǆ\" }}", "{{ reReplaceAll \"(.*):(.*)\" \"$2-${1}x\" $labels.instance }}", "{{ $labels.instance | reReplaceAll \":.*\" \"\" }}", "{{ reReplaceAll \"a*\" \"-\" \"baac\" }}{{ reReplaceAll \"(?P<n>a)\" \"<$n>$$\" \"banana\" }}",
			"{{ match \"a.*\" \"xab\" }}{{ match \"^b\" \"ab\" }}", "{{ stripPort \"a.b:80\" }} {{ stripPort \"a.b\" }} {{ stripPort \"[::1]:80\" }} {{ stripPort \":80\" }}", "{{ stripDomain \"a.b.c:80\" }} {{ stripDomain \"a.b\" }} {{ stripDomain \"1.2.3.4:80\" }} {{ stripDomain \"[::1]:80\" }} {{ stripDomain \"1.2.3.4\" }} {{ stripDomain \":80\" }} {{ stripDomain \"a.b:\" }} {{ stripDomain \"\" }}",
			"{{ graphLink \"up == 0\" }} {{ tableLink \"sum(rate(x[5m]))\" }}", "{{ pathPrefix }} {{ externalURL }}", "{{ urlQueryEscape \"a b&c=é\" }}", "{{ safeHtml \"<b>\" }}{{ safeHtml \"<b>\" | html }}{{ safeHtml \"a\" | printf \"%s\" }}", "{{ $labels.instance | stripPort | stripDomain | toUpper }}", "{{ externalURL | urlquery }}{{ .ExternalURL | len }}",
		},
		"error": {
			"{{ first (query \"empty\") }}", "{{ query \"fail\" }}", "{{ .Nope }}", "{{ $value.x }}", "{{ $labels.job.x }}", "{{ .Labels 1 }}", "{{ 1 | .Labels.job }}", "{{ 1 | $labels }}", "{{ template \"none\" }}", "{{ range 1.5 }}{{ end }}", "{{ range \"abc\" }}{{ end }}", "{{ range $value }}{{ end }}", "{{ range . }}{{ end }}",
			"{{ range $a, $b := 3 }}{{ end }}", "{{ eq 1 1.0 }}", "{{ eq 1 }}", "{{ eq }}", "{{ lt 1 \"a\" }}", "{{ lt true false }}", "{{ lt nil 1 }}", "{{ eq $labels $labels }}", "{{ eq . . }}", "{{ eq $labels 1 }}", "{{ eq $labels (query \"x\") }}", "{{ gt $value 3 }}", "{{ and }}", "{{ or }}", "{{ not }}", "{{ not 1 2 }}", "{{ len 3 }}", "{{ len nil }}", "{{ len . }}",
			"{{ index \"abc\" 3 }}", "{{ index \"abc\" -1 }}", "{{ index (query \"x\") \"a\" }}", "{{ index $labels 1 }}", "{{ index nil 1 }}", "{{ index 3 1 }}", "{{ index $labels nil }}", "{{ index }}", "{{ index (args nil) \"arg0\" \"x\" }}", "{{ slice \"abc\" 2 1 }}", "{{ slice \"abc\" 4 }}", "{{ slice \"abc\" 0 1 2 }}", "{{ slice $labels }}", "{{ slice nil }}", "{{ slice (query \"x\") 1 2 3 4 }}", "{{ slice \"a\" \"b\" }}",
			"{{ humanize \"x\" }}", "{{ humanize nil }}", "{{ humanize }}", "{{ humanize . }}", "{{ humanizeTimestamp 1e20 }}", "{{ toTime \"NaN\" }}", "{{ toTime 1e300 }}", "{{ humanize (toTime 3) }}", "{{ humanize (toDuration 3) }}", "{{ humanizeDuration (index \"a\" 0) }}", "{{ parseDuration \"x\" }}", "{{ match \"(\" \"a\" }}", "{{ reReplaceAll \"(\" \"a\" \"b\" }}", "{{ reReplaceAll \"a\" \"b\" }}", "{{ toUpper 3 }}", "{{ toUpper $value }}", "{{ toUpper nil }}", "{{ toUpper (safeHtml \"a\") }}",
			"{{ label \"x\" nil }}", "{{ value nil }}", "{{ strvalue nil }}", "{{ first nil }}", "{{ first $labels }}", "{{ value (query \"x\") }}", "{{ label 1 (first (query \"x\")) }}", "{{ (first (query \"x\")).Nope }}", "{{ printf 3 }}", "{{ printf }}", "{{ call 3 }}", "{{ call }}", "{{ call $labels 1 }}", "{{ (toTime 3).Nope }}", "{{ (toTime 3).wall }}", "{{ (toTime 3).Year 1 }}", "{{ (toTime 3).Format }}", "{{ (toTime 3).Format 3 }}", "{{ (toTime 3).Add 1.5 }}", "{{ (toTime 3).In nil }}", "{{ (toTime 3).Sub 3 }}",
			"{{ (toTime 3).Date }}", "{{ (args nil).arg0.x }}", "{{ range args nil }}{{ .x }}{{ end }}", "{{ query 3 }}", "{{ sortByLabel nil (query \"x\") }}", "{{ 18446744073709551615 }}", "{{ eq 18446744073709551615 1 }}", "{{ now 1 }}", "{{ externalURL 1 }}", "{{ match \"a\" (args nil).arg0 }}", "{{ len (args nil).arg0 }}", "{{ sortByLabel \"x\" (args nil).arg0 | len }}{{ range (args nil).arg0.x }}{{ end }}",
		},
		"syntax error": {
			"{{", "{{ $x }}", "{{ nope }}", "{{ if }}{{ end }}", "{{ end }}", "{{ if true }}", "{{ range }}{{ end }}", "{{ break }}", "{{ nil }}", "{{ 3 | 4 }}", "{{ \"a }}", "{{ define \"x\" }}a{{ end }}{{ define \"x\" }}b{{ end }}", "{{ $x = 1 }}", "{{ $x := $x }}", "{{ define \"__alert_Test\" }}x{{ end }}", "{{ else }}", "{{ (3 }}", "{{ template x }}", "{{ '' }}", "{{ 1x }}", "{{ .x.3 }}", "{{ /* x }}", "{{ 3.x }}",
			"{{ define \"x\" }}{{ break }}{{ end }}", "{{ range 3 }}{{ else }}{{ break }}{{ end }}", "{{ $x := }}",
		},
	}
}
