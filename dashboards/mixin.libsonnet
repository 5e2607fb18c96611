// The dashboards and alerts of Vitals as a mixin. vitalsSelector matches the series of every
// Vitals. Copies with another one are made by "vitals generate alerts".
{
  _config+:: {
    vitalsSelector: 'job="vitals"',
  },

  grafanaDashboards+:: {
    'vitals-collectors.json': import 'collectors.json',
    'vitals-evaluator.json': import 'evaluator.json',
    'vitals-host.json': import 'host.json',
    'vitals-kuryr.json': import 'kuryr.json',
    'vitals-openstack.json': import 'openstack.json',
    'vitals-overview.json': import 'overview.json',
    'vitals-rule.json': import 'rule.json',
  },

  prometheusAlerts+:: {
    groups+: std.parseYaml(
      std.strReplace(importstr 'alerts/alerts.yml', 'job="vitals"', $._config.vitalsSelector)
    ).groups,
  },
}
