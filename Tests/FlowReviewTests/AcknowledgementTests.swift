import FlowFiles
import FlowReview
import Navigation
import Testing

@Suite("Acknowledgement of findings")
struct AcknowledgementTests {
    private func findings(_ comment: String, after: String = "", lineEnd: String = "\n") -> [String] {
        let yaml = """
            name: shop
            version: 1
            platform: ios
            start: list
            screens:
              list: { sends: [command.Next] }
              \(comment)
              end: { sends: [command.Idle] }\(after)
            transitions:
              - { on: command.Next, do: [{ setRoot: end }] }
            """
            .replacing("\n", with: lineEnd)
        return Flow.review(yaml: yaml, file: "shop.yaml").findings.map(\.description)
    }

    @Test("A comment at the end of the finding's line, or on the line before, acknowledges the finding")
    func places() {
        let trap =
            "shop.yaml:8:3: warning: the user cannot leave 'end': no rule leads on from it as the root; add one "
            + "[dead-end]"
        #expect(findings("# an ordinary comment") == [trap])
        #expect(findings("# check: allow dead-end, the app ends here") == [])
        #expect(findings("# check: allow dead-end: the app ends here\n  # and nowhere else\n") == [])
        #expect(findings("#", after: "  # check: allow dead-end, the app ends here") == [])
    }

    @Test("An acknowledgement is read in a file with CRLF")
    func carriageReturns() {
        #expect(findings("# check: allow dead-end, the app ends here", lineEnd: "\r\n") == [])
        #expect(findings("#", after: "  # check: allow dead-end, the app ends here", lineEnd: "\r\n") == [])
        let unused = findings("# check: allow dead-end", lineEnd: "\r\n")
        #expect(unused.first?.contains("the acknowledgement of 'dead-end' has no reason") == true)
    }

    @Test("An acknowledgement without a reason or a finding, or with an unknown code, is itself a warning")
    func useless() {
        #expect(
            findings("# check: allow dead-end") == [
                "shop.yaml:7:1: warning: the acknowledgement of 'dead-end' has no reason; write it after the code "
                    + "[unused-acknowledgement]"
            ])
        let unused = findings("# check: allow competing-rules, the first one wins")
        #expect(
            unused.first
                == "shop.yaml:7:1: warning: line 8 has no finding 'competing-rules'; remove this comment "
                + "[unused-acknowledgement]")
        #expect(unused.count == 2)
        #expect(findings("# check: allow dead-ends, x").first?.contains("no finding has the code 'dead-ends'") == true)
    }

    @Test("Without the app's messages, or in a flow with errors, an acknowledgement may be of use elsewhere")
    func unknown() {
        #expect(findings("# check: allow unhandled-command, later").count == 1, "only the dead end")
        let found = findings(
            "# check: allow unreached, later", after: "\n  # check: allow dead-end\n  x: { sends: [y] }")
        #expect(found.count == 2)
        #expect(found.first?.contains("the acknowledgement of 'dead-end' has no reason") == true)
        #expect(found.last?.contains("'y' is not the type of a command") == true)
    }

    @Test("An error cannot be acknowledged, and an acknowledgement does not change the flow's hash")
    func errors() throws {
        let yaml = "name: a\nversion: 1\nplatform: ios\nstart: b\nscreens: { b: }\ntransitions: []\n"
        let commented = "# check: allow dead-end, x\n" + yaml
        #expect(try Flow(yaml: yaml, file: "a").hash == Flow(yaml: commented, file: "a").hash)
        let wrong = "# check: allow never-applies, x\n" + yaml.replacing("start: b", with: "start: c")
        #expect(Flow.review(yaml: wrong, file: "a").errors.count == 1)
    }
}

extension Flow {
    /// Reads a flow from YAML and reviews it.
    static func review(
        yaml: String, file: String, messages: MessageCatalogue? = nil, sentElsewhere: Set<String> = []
    ) -> FlowReview {
        FlowReading(yaml: yaml, file: file).review(messages: messages, sentElsewhere: sentElsewhere)
    }
}

extension FlowFinding {
    /// The description without the code.
    var text: String { description.replacing(#/ \[[a-z-]+\]$/#, with: "") }
}
