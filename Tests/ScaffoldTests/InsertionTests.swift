import Testing

@testable import Scaffold

@Suite("Text that a person has written, with something new in it")
struct InsertionTests {
    private static let flow = """
        screens:
          menu: { title: Menu, sends: [command.A] }   # the first
          cup:
            title: Cup
          empty:
            sends: []

        # What follows are the rules.
        transitions:
          - on: command.A
            do: [pop]
        """

    @Test("A block gets its entry at its end, before what is said of the next one")
    func block() throws {
        let text = try #require(Self.flow.appending("  new:\n    title: New", toBlock: "screens"))
        #expect(text.contains("    sends: []\n  new:\n    title: New\n\n# What follows are the rules.\ntransitions:"))
        let rules = try #require(Self.flow.appending("  - on: command.B", toBlock: "transitions"))
        #expect(rules.hasSuffix("    do: [pop]\n  - on: command.B"))
    }

    @Test("Lines that end with CRLF are found, and the new ones end as they do")
    func carriageReturns() throws {
        let flow = (Self.flow + "\n").replacing("\n", with: "\r\n")
        let text = try #require(flow.appending("  new:\n    title: New", toBlock: "screens"))
        #expect(text.contains("    sends: []\r\n  new:\r\n    title: New\r\n\r\n# What follows"))
        #expect(text.hasSuffix("    do: [pop]\r\n"))
        #expect(
            flow.adding("command.B", toSendsOf: "cup").contains("title: Cup\r\n    sends: [command.B]\r\n  empty:"))
        let manifest = "    targets: [\r\n    ]\r\n"
        #expect(
            ("\r\n" + manifest).inserting("a\nb", behind: #/\R    targets: \[\R/#)
                == "\r\n    targets: [\r\na\r\nb\r\n    ]\r\n")
    }

    @Test("A block that is not there, or is written in braces, is left to a person", arguments: ["links", "inline"])
    func noBlock(key: String) {
        #expect("inline: { a: b }\nscreens:\n".appending("  x:", toBlock: key) == nil)
    }

    @Test("A screen may send one command more, however it lists them; one that it sends already is there once")
    func sends() {
        #expect(Self.flow.adding("command.B", toSendsOf: "menu").contains("sends: [command.A, command.B] }"))
        #expect(
            Self.flow.adding("command.B", toSendsOf: "cup").contains("title: Cup\n    sends: [command.B]\n  empty:"))
        #expect(Self.flow.adding("command.B", toSendsOf: "empty").contains("sends: [command.B]\n\n#"))
        #expect(Self.flow.adding("command.A", toSendsOf: "menu") == Self.flow)
        #expect(Self.flow.adding("command.B", toSendsOf: "none") == Self.flow)
    }
}
