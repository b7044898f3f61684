// Package sessionhtml writes a session as one HTML page for people to read: no scripts, no requests, nothing beside the file.
//
// What a page shows came from models, tools and users, any of whom may have put markup there. Text is escaped and shown as it was
// written; of Markdown only fences are understood; images are shown when they are of a kind that browsers only
// draw; and the page's own Content-Security-Policy allows nothing but its style and images inside it.
package sessionhtml
