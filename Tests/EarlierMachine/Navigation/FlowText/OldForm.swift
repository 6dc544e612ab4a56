/// A use of an old form of the flow language, which can still be read, and its replacement.
///
/// The functions below are the table of all old forms.
package struct OldForm: Hashable, Sendable {
    /// A word of the file and the word that replaces it.
    package struct Edit: Hashable, Sendable {
        /// The line of the word, from 1. Nil if the form was not read from a file.
        package let line: Int?
        /// The column of the word in the line, from 1. Nil if the form was not read from a file.
        package let column: Int?
        package let word: String
        package let replacement: String

        fileprivate init(_ node: FlowNode, _ word: String, _ replacement: String) {
            line = node.mark?.line
            column = node.mark?.column
            self.word = word
            self.replacement = replacement
        }
    }

    /// The meaning of the form, and the forms to write instead.
    package let message: String
    /// The changes of the file that replace the form. The first one is at the place of the form.
    package let edits: [Edit]

    private init(_ message: String, _ edits: Edit...) {
        self.message = message
        self.edits = edits
    }

    /// `pop: SCREEN`, which keeps the screen.
    static func popTo(_ screen: String, key: FlowNode) -> OldForm {
        OldForm(
            "'pop: \(screen)' keeps '\(screen)'; write 'popTo: \(screen)', or 'pop: { from: \(screen) }' to pop "
                + "'\(screen)' too",
            Edit(key, "pop", "popTo"))
    }

    /// `pop: { to: SCREEN }`, which keeps the screen.
    static func popTo(_ screen: String, key: FlowNode, to: FlowNode) -> OldForm {
        OldForm(
            "'pop: { to: \(screen) }' keeps '\(screen)'; write 'popTo: { screen: \(screen) }', or "
                + "'pop: { from: \(screen) }' to pop '\(screen)' too",
            Edit(key, "pop", "popTo"), Edit(to, "to", "screen"))
    }

    /// `pop: { to: sender }`, which pops the sender too.
    static func popFromSender(to: FlowNode) -> OldForm {
        OldForm("'pop: { to: sender }' pops the sender too; write 'pop: { from: sender }'", Edit(to, "to", "from"))
    }
}
