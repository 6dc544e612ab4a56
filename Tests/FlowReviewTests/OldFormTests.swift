import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Old forms of the language")
struct OldFormTests {
    private func yaml(_ action: String) -> String {
        """
        name: shop
        version: 1
        platform: ios
        start: list
        screens: { list: , item: }
        transitions:
          - { on: event.A, do: [{ push: item }] }
          - { on: event.B, do: [{ push: item }, { \(action) }] }

        """
    }

    @Test(
        "The check reports an old form with the new ones, and its edits replace it",
        arguments: [
            (
                "pop: list", "popTo: list",
                "'pop: list' keeps 'list'; write 'popTo: list', or 'pop: { from: list }' to pop 'list' too"
            ),
            (
                "pop: { to: list }", "popTo: { screen: list }",
                "'pop: { to: list }' keeps 'list'; write 'popTo: { screen"
            ),
            ("pop: { to: sender }", "pop: { from: sender }", "'pop: { to: sender }' pops the sender too; write"),
        ])
    func old(action: String, new: String, message: String) throws {
        let reading = FlowReading(yaml: yaml(action), file: "shop.yaml")
        let findings = reading.review().findings
        #expect(findings.map(\.code) == [.oldForm])
        #expect(findings[0].description.hasPrefix("shop.yaml:8:") == true, "\(findings)")
        #expect(findings[0].message.hasPrefix(message), "\(findings)")
        var lines = yaml(action).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for edit in reading.oldForms.flatMap(\.edits).reversed() {
            let line = try #require(edit.line) - 1
            let start = lines[line].index(lines[line].startIndex, offsetBy: try #require(edit.column) - 1)
            let end = lines[line].index(start, offsetBy: edit.word.count)
            #expect(lines[line][start..<end] == edit.word)
            lines[line].replaceSubrange(start..<end, with: edit.replacement)
        }
        let edited = lines.joined(separator: "\n")
        #expect(edited == yaml(new))
        #expect(FlowReading(yaml: edited, file: "shop.yaml").flow == reading.flow)
        #expect(FlowReading(yaml: edited, file: "shop.yaml").review().findings == [])
    }

    @Test("The new forms are not reported, and the export writes them")
    func new() throws {
        for action in ["popTo: list", "pop: { from: item }", "pop: 1", "pop: sender", "ifPossible: dismiss"] {
            #expect(FlowReading(yaml: yaml(action), file: "shop.yaml").review().findings == [], "\(action)")
        }
        #expect(try Flow(yaml: yaml("pop: list"), file: "shop.yaml").yaml.contains("popTo: list"))
    }

    @Test("An action that is possible in every state needs no 'ifPossible'")
    func needless() {
        let found = FlowReading(yaml: yaml("ifPossible: { send: command.A }"), file: "shop.yaml").review().findings
        #expect(found.map(\.message) == ["'send' is possible in every state; write it without 'ifPossible'"])
    }
}
