extension String {
    /// What a compose file says for this text: a dollar sign there would begin a variable.
    var composeEscaped: String { replacing("$", with: "$$") }
}
