package dashboards

import "strconv"

// The colours of states.
const (
	green  = "green"
	yellow = "yellow"
	orange = "orange"
	red    = "red"
	purple = "purple"
)

// display is the presentation of the values of a panel.
type display struct {
	// unit is Grafana's name of the unit of plain numbers.
	unit string
	// states are the words for the numbers of a state; with them, there is no unit.
	states []stateWord
	// texts are shown instead of the values of a column of words, and otherwise instead of
	// any other one, with $1 for it.
	texts     map[string]string
	otherwise string
	// steps are the colours of plain numbers, the lowest first.
	steps []thresholdStep
	// empty is shown if there are no values.
	empty string
	// highest is the maximum of the axis, or nil.
	highest *float64
	// decimals is the number of decimals, or nil for as many as are useful.
	decimals *int
	// stacked stacks the lines of a graph.
	stacked bool
}

// stateWord is the word for one number. A word has at most seven letters, so that it
// fits into a short region of a timeline.
type stateWord struct {
	number int
	word   string
	color  string
}

// verdicts returns the words for the values of verdict.
func verdicts() display {
	return display{empty: "NO DATA", states: []stateWord{{0, "FAIL", red}, {1, "DOWN", purple}, {2, "OK", green}}}
}

// verdictsNow returns the words for the worst verdict of several instances.
func verdictsNow() display {
	d := verdicts()
	d.states = append(d.states, stateWord{3, "PARTLY", orange})
	return d
}

// statuses returns the words for the values of status.
func statuses() display {
	return display{empty: "NO DATA", states: []stateWord{{0, "OK", green}, {1, "PENDING", yellow}, {2, "UNKNOWN", purple}, {3, "FAIL", red}}}
}

// alertStates returns the words for 1, pending, and 2, firing.
func alertStates() display {
	return display{empty: "No alert", states: []stateWord{{1, "PENDING", yellow}, {2, "FIRING", red}}}
}

// switches returns the words for 0 and 1, where 1 is good.
func switches(bad, good string) display {
	return display{empty: "NO DATA", states: []stateWord{{0, bad, red}, {1, good, green}}}
}

// flags returns the word for 1, for queries without other values.
func flags(word, color string) display {
	return display{empty: "NO DATA", states: []stateWord{{1, word, color}}}
}

// numbers returns the display of numbers with a unit. The first step is the colour of the text
// without data, and the second that of numbers from 0 on.
func numbers(unit string) display {
	return display{unit: unit, empty: "no data", steps: []thresholdStep{{Color: "text"}, {green, new(float64)}}}
}

// from sets the colour of numbers from a value on. Calls need rising values.
func (d display) from(value float64, color string) display {
	d.steps = append(d.steps[:len(d.steps):len(d.steps)], thresholdStep{color, &value})
	return d
}

// below sets the colour of numbers below the first step.
func (d display) below(color string) display {
	d.steps = append([]thresholdStep{d.steps[0], {color, d.steps[1].Value}}, d.steps[2:]...)
	return d
}

// orLess gives numbers below 0 the colour of 0.
func (d display) orLess() display {
	lowest := -1e12
	d.steps = append([]thresholdStep{d.steps[0], {d.steps[1].Color, &lowest}}, d.steps[2:]...)
	return d
}

// whole shows no decimals.
func (d display) whole() display {
	d.decimals = new(int)
	return d
}

// orElse sets the text that is shown if there are no values.
func (d display) orElse(text string) display {
	d.empty = text
	return d
}

// stacked stacks the lines of a graph.
func stacked(d display) display {
	d.stacked = true
	return d
}

// upTo sets the maximum of the axis.
func (d display) upTo(highest float64) display {
	d.highest = &highest
	return d
}

// field returns the display in the form of Grafana.
func (d display) field(custom map[string]any) field {
	f := field{
		Unit: d.unit, NoValue: d.empty, Max: d.highest, Decimals: d.decimals, Color: color{Mode: "thresholds"}, Mappings: d.mappings(),
		Thresholds: steps{Mode: "absolute", Steps: d.steps}, Custom: custom,
	}
	if len(d.states) > 0 {
		// With the colours of thresholds, a timeline shows those instead of the words.
		f.Color = color{Mode: "fixed", FixedColor: "text"}
	}
	if len(f.Thresholds.Steps) == 0 {
		f.Thresholds.Steps = []thresholdStep{{Color: "text"}}
	}
	return f
}

func (d display) mappings() []mapping {
	if len(d.texts) > 0 {
		return d.textMappings()
	}
	if len(d.states) == 0 {
		return []mapping{}
	}
	options := map[string]mappedText{}
	for i, s := range d.states {
		options[strconv.Itoa(s.number)] = mappedText{i, s.word, s.color}
	}
	return []mapping{{"value", options}}
}

func (d display) textMappings() []mapping {
	options := map[string]mappedText{}
	for i, name := range sortedNames(d.texts) {
		options[name] = mappedText{Index: i, Text: d.texts[name]}
	}
	rest := mappedPattern{Pattern: "/^(.*)$/", Result: mappedText{Index: len(options), Text: d.otherwise}}
	return []mapping{{"value", options}, {"regex", rest}}
}

// properties returns the display as overrides of another one.
func (d display) properties() []property {
	f := d.field(nil)
	list := []property{{"mappings", f.Mappings}, {"color", f.Color}, {"thresholds", f.Thresholds}}
	if d.unit != "" {
		list = append(list, property{"unit", d.unit})
	}
	if d.decimals != nil {
		list = append(list, property{"decimals", *d.decimals})
	}
	return list
}
