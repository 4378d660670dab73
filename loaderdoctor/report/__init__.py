"""From a diagnosis to one view, and from the view to HTML, PDF, JSON, Markdown and the terminal."""
