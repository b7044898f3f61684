// Package resources reads the skills and prompt templates that extensions name with resources_discover.
//
// A skill is a Markdown file for a task: its name and description stand in the system prompt, and the model reads the rest when it has
// the task. A prompt template is a Markdown file that a person names with "/name arguments" instead of typing its text.
//
//  1. [Load] looks at the paths and gives a [Set], and what is wrong with those that are left out.
//  2. [Set.SystemPrompt] is what the model is told; [Set.Expand] puts the text of a template or skill in the place of its name. Both as
//     often as is wanted. Files are read again when they are named.
//
// What an extension names is read by the host, for a model to see. So that this opens nothing, the host reads for an extension only what
// it was granted to read itself: .md files below the folders of its grant read. An extension without that grant has no skills.
//
// A Set does not change, and is safe for concurrent use.
package resources

import "fmt"

// The limits of what is read.
const (
	MaxFile    = 128 << 10 // bytes of a file
	MaxSkills  = 100
	MaxPrompts = 200
	// MaxListed is how long the list of skills may be in bytes: every request carries it.
	MaxListed = 32 << 10
	// MaxExpanded is how long a text may become in bytes.
	MaxExpanded = 1 << 20
	// maxLooked is how many files and folders are looked at in one Load, maxDepth how deep below a path.
	maxLooked = 2_000
	maxDepth  = 4
	// The lengths of a name and a description in characters (Agent Skills specification).
	maxName        = 64
	maxDescription = 1024
)

// Problem says why something that an extension named is left out.
type Problem struct {
	Extension string
	Path      string // as the extension named it, or the file found there
	Reason    string
}

// Error implements error.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s: resources_discover: %q is left out: %s", p.Extension, p.Path, p.Reason)
}
