package charts_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// Every pod meets the Pod Security Standard "restricted", by the code of the API server's admission.
// With one right more it does not.
func TestRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	forbidden := func(w object) string {
		level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
		template := w.Spec.Template
		results := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec))
		return results.ForbiddenDetail()
	}
	for _, r := range all(t) {
		w := workload(t, r.text)
		if got := forbidden(w); got != "" {
			t.Errorf("%s violates restricted: %s", r.name, got)
		}
		yes := true
		for i := range w.Spec.Template.Spec.Containers {
			w.Spec.Template.Spec.Containers[i].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
		}
		if got := forbidden(w); got == "" {
			t.Errorf("%s with a privileged container meets restricted, want that it does not", r.name)
		}
	}
}
