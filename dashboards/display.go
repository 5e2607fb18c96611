package dashboards

import "strconv"

// The colours of states.
const (
	green  = "green"
	yellow = "yellow"
	red    = "red"
	purple = "purple"
)

// display is how the values of a panel are shown.
type display struct {
	// unit is Grafana's name of the unit of plain numbers.
	unit string
	// states are the words for the numbers of a state; with them, there is no unit.
	states []stateWord
	// steps are the colours of plain numbers, the lowest first.
	steps []thresholdStep
	// empty is shown where there is nothing to show.
	empty string
	// highest is the end of the axis where it is known.
	highest *float64
	// stacked puts the lines of a graph on top of each other.
	stacked bool
}

// stateWord is the word for one number. A word has at most seven letters, so that it
// fits into a short region of a timeline.
type stateWord struct {
	number int
	word   string
	color  string
}

// verdicts are the words for what verdict yields.
func verdicts() display {
	return display{empty: "NO DATA", states: []stateWord{{0, "FAIL", red}, {1, "DOWN", purple}, {2, "OK", green}}}
}

// statuses are the words for what status yields.
func statuses() display {
	return display{empty: "NO DATA", states: []stateWord{{0, "OK", green}, {1, "PENDING", yellow}, {2, "UNKNOWN", purple}, {3, "FAIL", red}}}
}

// alertStates are the words for what alertState yields.
func alertStates() display {
	return display{empty: "No alert", states: []stateWord{{1, "PENDING", yellow}, {2, "FIRING", red}}}
}

// switches are the words for 0 and 1 where 1 is good.
func switches(bad, good string) display {
	return display{empty: "NO DATA", states: []stateWord{{0, bad, red}, {1, good, green}}}
}

// flags is the word for 1 where it is all that is shown.
func flags(word, color string) display {
	return display{empty: "NO DATA", states: []stateWord{{1, word, color}}}
}

// numbers are plain numbers of a unit.
func numbers(unit string) display {
	return display{unit: unit, empty: "no data", steps: []thresholdStep{{Color: green}}}
}

// from gives the numbers from a value on a colour. Call it with rising values.
func (d display) from(value float64, color string) display {
	d.steps = append(d.steps[:len(d.steps):len(d.steps)], thresholdStep{color, &value})
	return d
}

// below gives the numbers below the first step a colour.
func (d display) below(color string) display {
	d.steps = append([]thresholdStep{{Color: color}}, d.steps[1:]...)
	return d
}

// orElse is shown where there is nothing to show.
func (d display) orElse(text string) display {
	d.empty = text
	return d
}

// stacked puts the lines of a graph on top of each other.
func stacked(d display) display {
	d.stacked = true
	return d
}

// upTo ends the axis.
func (d display) upTo(highest float64) display {
	d.highest = &highest
	return d
}

// field is the display as Grafana wants it.
func (d display) field(custom map[string]any) field {
	f := field{
		Unit: d.unit, NoValue: d.empty, Max: d.highest, Color: color{Mode: "thresholds"}, Mappings: d.mappings(),
		Thresholds: steps{Mode: "absolute", Steps: d.steps}, Custom: custom,
	}
	if len(d.states) > 0 {
		// With the colours of thresholds, a timeline shows those instead of the words.
		f.Color = color{Mode: "fixed", FixedColor: "text"}
	}
	if len(f.Thresholds.Steps) == 0 {
		f.Thresholds.Steps = []thresholdStep{{Color: green}}
	}
	return f
}

func (d display) mappings() []mapping {
	if len(d.states) == 0 {
		return []mapping{}
	}
	options := map[string]mappedText{}
	for i, s := range d.states {
		options[strconv.Itoa(s.number)] = mappedText{i, s.word, s.color}
	}
	return []mapping{{"value", options}}
}

// properties are the display as overrides of another one.
func (d display) properties() []property {
	f := d.field(nil)
	list := []property{{"mappings", f.Mappings}, {"color", f.Color}, {"thresholds", f.Thresholds}}
	if d.unit != "" {
		list = append(list, property{"unit", d.unit})
	}
	return list
}
