package dashboards

// dashboard is a dashboard in Grafana's classic JSON model, as far as it is used here.
// The order of the fields is that of the files.
type dashboard struct {
	UID         string   `json:"uid"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	// SchemaVersion is the one of Grafana 9.3; later versions convert it when they load.
	SchemaVersion int  `json:"schemaVersion"`
	Version       int  `json:"version"`
	Editable      bool `json:"editable"`
	// GraphTooltip is 1 for a crosshair that all panels share.
	GraphTooltip int              `json:"graphTooltip"`
	Refresh      string           `json:"refresh"`
	Time         timeRange        `json:"time"`
	Timezone     string           `json:"timezone"`
	Links        []dashboardLink  `json:"links"`
	Annotations  list[annotation] `json:"annotations"`
	Templating   list[variable]   `json:"templating"`
	Panels       []panel          `json:"panels"`
}

type list[T any] struct {
	List []T `json:"list"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// dashboardLink is a menu of all dashboards with a tag.
type dashboardLink struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Tags        []string `json:"tags"`
	AsDropdown  bool     `json:"asDropdown"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
	TargetBlank bool     `json:"targetBlank"`
	Icon        string   `json:"icon"`
	Tooltip     string   `json:"tooltip"`
	URL         string   `json:"url"`
}

// source refers to a data source.
type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type annotation struct {
	Name        string `json:"name"`
	Datasource  source `json:"datasource"`
	Enable      bool   `json:"enable"`
	Expr        string `json:"expr"`
	Step        string `json:"step"`
	IconColor   string `json:"iconColor"`
	TitleFormat string `json:"titleFormat"`
	TextFormat  string `json:"textFormat"`
	TagKeys     string `json:"tagKeys"`
}

// variable is one of the choices at the top of a dashboard.
type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Datasource *source `json:"datasource,omitempty"`
	Query      any     `json:"query"`
	Definition string  `json:"definition,omitempty"`
	// Refresh is 1 when the dashboard is loaded, 2 when the time range changes as well.
	Refresh    int      `json:"refresh"`
	Multi      bool     `json:"multi"`
	IncludeAll bool     `json:"includeAll"`
	AllValue   string   `json:"allValue,omitempty"`
	Sort       int      `json:"sort"`
	Regex      string   `json:"regex"`
	Hide       int      `json:"hide"`
	Options    []string `json:"options"`
	Current    any      `json:"current,omitempty"`
}

// current is what a variable is set to at first.
type current struct {
	Selected bool `json:"selected"`
	Text     any  `json:"text"`
	Value    any  `json:"value"`
}

// panel is a panel, or the heading of a section.
type panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description,omitempty"`
	GridPos         grid             `json:"gridPos"`
	Datasource      *source          `json:"datasource,omitempty"`
	Targets         []target         `json:"targets,omitempty"`
	FieldConfig     *fieldConfig     `json:"fieldConfig,omitempty"`
	Options         any              `json:"options,omitempty"`
	Transformations []transformation `json:"transformations,omitempty"`
	MaxDataPoints   int              `json:"maxDataPoints,omitempty"`
	// Collapsed and Panels are those of a heading.
	Collapsed *bool       `json:"collapsed,omitempty"`
	Panels    *[]panel    `json:"panels,omitempty"`
	Links     []panelLink `json:"links,omitempty"`

	// below keeps the legend below the graph.
	below bool
}

// panelLink leads from the title of a panel to elsewhere.
type panelLink struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	TargetBlank bool   `json:"targetBlank"`
}

// grid is a place on a grid of 24 columns; H is in steps of 38 pixels.
type grid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// target is one query of a panel.
type target struct {
	RefID        string `json:"refId"`
	Datasource   source `json:"datasource"`
	EditorMode   string `json:"editorMode"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Instant      bool   `json:"instant"`
	Range        bool   `json:"range"`
	Format       string `json:"format"`

	// limit makes a dashed line of it.
	limit bool
	// display, where it is set, is shown for this query instead of the panel's.
	display *display
}

type fieldConfig struct {
	Defaults  field      `json:"defaults"`
	Overrides []override `json:"overrides"`
}

// field is how values are shown.
type field struct {
	Unit       string         `json:"unit,omitempty"`
	Decimals   *int           `json:"decimals,omitempty"`
	Min        *float64       `json:"min,omitempty"`
	Max        *float64       `json:"max,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      color          `json:"color"`
	Mappings   []mapping      `json:"mappings"`
	Thresholds steps          `json:"thresholds"`
	Custom     map[string]any `json:"custom,omitempty"`
}

type color struct {
	Mode       string `json:"mode"`
	FixedColor string `json:"fixedColor,omitempty"`
}

// mapping gives values a text and a colour. Options are a map from values to mappedText, or a
// mappedPattern.
type mapping struct {
	Type    string `json:"type"`
	Options any    `json:"options"`
}

type mappedText struct {
	Index int    `json:"index"`
	Text  string `json:"text"`
	Color string `json:"color,omitempty"`
}

// mappedPattern gives all values that match a pattern a text.
type mappedPattern struct {
	Pattern string     `json:"pattern"`
	Result  mappedText `json:"result"`
}

type steps struct {
	Mode  string          `json:"mode"`
	Steps []thresholdStep `json:"steps"`
}

// thresholdStep is the colour from a value on; nil is the lowest.
type thresholdStep struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

type override struct {
	Matcher    matcher    `json:"matcher"`
	Properties []property `json:"properties"`
}

type matcher struct {
	ID      string `json:"id"`
	Options string `json:"options"`
}

type property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

type transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

// dataLink leads from a value to elsewhere.
type dataLink struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	TargetBlank bool   `json:"targetBlank"`
}
