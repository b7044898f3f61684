package agentcore

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// explain says what is wrong with value, in the words and the order of the reference. That it is wrong was decided by
// the schema library, as cause says; should explain find nothing, the library's own words serve.
func (s *Schema) explain(value any, cause error) []string {
	left := explainSteps
	e := explainer{order: s.order, left: &left}
	e.check(value, s.root, nil)
	if len(e.problems) > 0 {
		return e.problems
	}
	for line := range strings.Lines(cause.Error()) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- at "); ok {
			e.problems = append(e.problems, strings.TrimSpace(rest))
		}
	}
	if len(e.problems) > 0 {
		return e.problems
	}
	return []string{"root: " + cause.Error()}
}

func pathText(path []string) string {
	if len(path) == 0 {
		return "root"
	}
	return strings.Join(path, ".")
}

// The work that an explanation may take: schemas may refer to themselves. What lies deeper is left out.
const (
	explainSteps = 10_000
	explainDepth = 200
)

type explainer struct {
	order    sourceOrder
	problems []string
	depth    int
	left     *int // steps, shared with the explainers of alternatives
}

func (e *explainer) add(path []string, format string, args ...any) {
	e.problems = append(e.problems, pathText(path)+": "+fmt.Sprintf(format, args...))
}

// apart explains value against a schema without telling yet.
func (e *explainer) apart(value any, s *jsonschema.Schema, path []string) []string {
	other := explainer{order: e.order, depth: e.depth, left: e.left}
	other.check(value, s, path)
	return other.problems
}

func (e *explainer) check(value any, s *jsonschema.Schema, path []string) {
	if *e.left--; *e.left < 0 || e.depth == explainDepth {
		return
	}
	e.depth++
	defer func() { e.depth-- }()
	path = slices.Clip(path)
	if s.Bool != nil {
		if !*s.Bool {
			e.add(path, "schema is false")
		}
		return
	}
	e.checkType(value, s, path)
	switch v := value.(type) {
	case map[string]any:
		e.checkObject(v, s, path)
	case []any:
		e.checkArray(v, s, path)
	case string:
		e.checkString(v, s, path)
	case json.Number:
		e.checkNumber(v, s, path)
	}
	if s.Ref != nil {
		e.check(value, s.Ref, path)
	}
	if s.Const != nil && (&jsonschema.Schema{Const: s.Const}).Validate(value) != nil {
		e.add(path, "must be equal to constant")
	}
	if s.Enum != nil && (&jsonschema.Schema{Enum: s.Enum}).Validate(value) != nil {
		e.add(path, "must be equal to one of the allowed values")
	}
	e.checkIf(value, s, path)
	if s.Not != nil && s.Not.Validate(value) == nil {
		e.add(path, "must not be valid")
	}
	for _, sub := range s.AllOf {
		e.check(value, sub, path)
	}
	e.checkAnyOf(value, s, path)
	e.checkOneOf(value, s, path)
}

func (e *explainer) checkType(value any, s *jsonschema.Schema, path []string) {
	types := e.order.typeNames(s)
	if len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return hasType(value, t) }) {
		return
	}
	if len(types) == 1 {
		e.add(path, "must be %s", types[0])
		return
	}
	e.add(path, "must be either %s", strings.Join(types, " or "))
}

func (e *explainer) checkIf(value any, s *jsonschema.Schema, path []string) {
	if s.If == nil {
		return
	}
	if s.If.Validate(value) == nil {
		if s.Then != nil && s.Then.Validate(value) != nil {
			e.add(path, `must match "then" schema`)
		}
		return
	}
	if s.Else != nil && s.Else.Validate(value) != nil {
		e.check(value, s.Else, path)
		e.add(path, `must match "else" schema`)
	}
}

func (e *explainer) checkAnyOf(value any, s *jsonschema.Schema, path []string) {
	if len(s.AnyOf) == 0 {
		return
	}
	var problems []string
	for _, sub := range s.AnyOf {
		if sub.Validate(value) == nil {
			return
		}
		problems = append(problems, e.apart(value, sub, path)...)
	}
	e.problems = append(e.problems, problems...)
	e.add(path, "must match a schema in anyOf")
}

func (e *explainer) checkOneOf(value any, s *jsonschema.Schema, path []string) {
	if len(s.OneOf) == 0 {
		return
	}
	var problems []string
	matches := 0
	for _, sub := range s.OneOf {
		if sub.Validate(value) == nil {
			matches++
			continue
		}
		problems = append(problems, e.apart(value, sub, path)...)
	}
	if matches == 1 {
		return
	}
	if matches == 0 {
		e.problems = append(e.problems, problems...)
	}
	e.add(path, "must match exactly one schema in oneOf")
}

func (e *explainer) checkObject(object map[string]any, s *jsonschema.Schema, path []string) {
	var missing []string
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		e.add(append(path, missing[0]), "must have required properties %s", strings.Join(missing, ", "))
	}
	names := slices.Sorted(maps.Keys(object))
	if !additionalAllowed(object, s) {
		e.add(path, "must not have additional properties")
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentRequired)) {
		needed := s.DependentRequired[name]
		if _, ok := object[name]; !ok {
			continue
		}
		for _, other := range needed {
			if _, ok := object[other]; !ok {
				e.add(path, "must have properties %s when property %s is present", strings.Join(needed, ", "), name)
				break
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		if _, ok := object[name]; ok {
			e.check(object, s.DependentSchemas[name], path)
		}
	}
	for pattern, sub := range s.PatternProperties {
		for _, name := range names {
			if pattern.MatchString(name) {
				e.check(object[name], sub, append(path, name))
			}
		}
	}
	for _, name := range e.propertyNames(s) {
		if item, ok := object[name]; ok {
			e.check(item, s.Properties[name], append(path, name))
		}
	}
	if s.PropertyNames != nil {
		bad := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.PropertyNames.Validate(name) == nil })
		if len(bad) > 0 {
			e.add(path, "property names %s are invalid", strings.Join(bad, ", "))
		}
	}
	if s.MinProperties != nil && len(object) < *s.MinProperties {
		e.add(path, "must not have fewer than %d properties", *s.MinProperties)
	}
	if s.MaxProperties != nil && len(object) > *s.MaxProperties {
		e.add(path, "must not have more than %d properties", *s.MaxProperties)
	}
}

// propertyNames are the declared properties in the order of the source.
func (e *explainer) propertyNames(s *jsonschema.Schema) []string {
	if names := e.order.properties[s.Location]; len(names) == len(s.Properties) {
		return names
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

func additionalAllowed(object map[string]any, s *jsonschema.Schema) bool {
	if s.AdditionalProperties == nil || s.AdditionalProperties == true {
		return true
	}
	sub, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, item := range object {
		if _, ok := s.Properties[name]; ok || matchesAny(s.PatternProperties, name) {
			continue
		}
		if sub == nil || sub.Validate(item) != nil {
			return false
		}
	}
	return true
}

func matchesAny(patterns map[jsonschema.Regexp]*jsonschema.Schema, name string) bool {
	for pattern := range patterns {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

func (e *explainer) checkArray(list []any, s *jsonschema.Schema, path []string) {
	if s.Contains != nil && (&jsonschema.Schema{Contains: s.Contains, MinContains: s.MinContains}).Validate(list) != nil {
		e.add(path, "must contain at least 1 valid item")
	}
	for i, item := range list {
		if sub := itemSchema(s, i); sub != nil && (s.Items != nil || i >= len(s.PrefixItems)) {
			e.check(item, sub, append(path, fmt.Sprint(i)))
		}
	}
	if s.MaxItems != nil && len(list) > *s.MaxItems {
		e.add(path, "must not have more than %d items", *s.MaxItems)
	}
	if s.MinItems != nil && len(list) < *s.MinItems {
		e.add(path, "must not have fewer than %d items", *s.MinItems)
	}
	for i, sub := range s.PrefixItems {
		if i < len(list) {
			e.check(list[i], sub, append(path, fmt.Sprint(i)))
		}
	}
	if s.UniqueItems && (&jsonschema.Schema{UniqueItems: true}).Validate(list) != nil {
		e.add(path, "must not have duplicate items")
	}
}

func (e *explainer) checkString(text string, s *jsonschema.Schema, path []string) {
	length := utf8.RuneCountInString(text)
	if s.MaxLength != nil && length > *s.MaxLength {
		e.add(path, "must not have more than %d characters", *s.MaxLength)
	}
	if s.MinLength != nil && length < *s.MinLength {
		e.add(path, "must not have fewer than %d characters", *s.MinLength)
	}
	if s.Format != nil && s.Format.Validate(text) != nil {
		e.add(path, `must match format "%s"`, s.Format.Name)
	}
	if s.Pattern != nil && !s.Pattern.MatchString(text) {
		e.add(path, `must match pattern "%s"`, s.Pattern)
	}
}

func (e *explainer) checkNumber(number json.Number, s *jsonschema.Schema, path []string) {
	n, ok := new(big.Rat).SetString(number.String())
	if !ok {
		return
	}
	compare := func(limit *big.Rat, sign string, holds func(int) bool) {
		if limit != nil && !holds(n.Cmp(limit)) {
			e.add(path, "must be %s %s", sign, ratText(limit))
		}
	}
	compare(s.ExclusiveMaximum, "<", func(c int) bool { return c < 0 })
	compare(s.ExclusiveMinimum, ">", func(c int) bool { return c > 0 })
	compare(s.Maximum, "<=", func(c int) bool { return c <= 0 })
	compare(s.Minimum, ">=", func(c int) bool { return c >= 0 })
	if s.MultipleOf != nil && s.MultipleOf.Sign() != 0 && !new(big.Rat).Quo(n, s.MultipleOf).IsInt() {
		e.add(path, "must be multiple of %s", ratText(s.MultipleOf))
	}
}

func ratText(r *big.Rat) string {
	f, _ := r.Float64()
	return string(appendNumber(nil, f))
}
