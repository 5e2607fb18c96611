package lint

// secondDocument finds rules that Prometheus does not load: it reads only the first
// document of a file. The Prometheus Operator reads objects from all documents.
func secondDocument(p *pass) {
	for _, f := range p.files {
		if !f.Behind || len(f.Groups) == 0 {
			continue
		}
		p.report(Finding{
			File: f.Name, Line: f.Groups[0].Line, Col: f.Groups[0].Col, Where: f.Part,
			Text: "Prometheus reads only the first document of a file, so only Vitals would load these groups",
			Cure: "move them to the first document or to a file of their own, or make a PrometheusRule object of each document",
		})
	}
}
