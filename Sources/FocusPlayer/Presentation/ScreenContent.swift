/// What a screen shows and offers: enough for a terminal, a web page or a native view to draw it.
package struct ScreenContent: Sendable {
    package var title: String
    /// Lines of text, from top to bottom.
    package var rows: [String]
    /// What a person can do here, and nothing else.
    package var actions: [ScreenAction]
    /// Whether what the screen is about is still to come: more rows and other actions will take their place.
    package var isLoading: Bool
    /// The error that lies over the screen.
    package var banner: Banner?

    package init(
        title: String, rows: [String] = [], actions: [ScreenAction] = [], isLoading: Bool = false,
        banner: Banner? = nil
    ) {
        self.title = title
        self.rows = rows
        self.actions = actions
        self.isLoading = isLoading
        self.banner = banner
    }
}
