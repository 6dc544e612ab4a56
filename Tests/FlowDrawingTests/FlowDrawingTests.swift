import FlowFiles
import FlowReview
import Navigation
import SampleFlows
import Support
import Testing

@testable import FlowDrawing

@Suite("The drawing of a flow")
struct FlowDrawingTests {
    @Test("A box has the screen, its styles and its commands")
    func boxes() throws {
        let flow = try Flow("drawn", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a", title: "The first", sends: ["command.Z", "command.Back"])
            Flow.Screen("b", sends: ["command.Close"])
            Flow.Transition(on: "command.Z", do: [.present("b", as: .sheet)])
            Flow.Transition(on: "command.Back", do: [.present("b", as: .popover)])
            Flow.Transition(on: "command.Close", do: [.dismiss(nil)])
            Flow.Transition(on: "event.Anything", do: [.setRoot("a")])
        }
        let drawing = try FlowDrawing(of: flow)
        #expect(drawing.boxes.map(\.screen) == ["a", "b", nil, nil])
        #expect(drawing.boxes.map(\.title) == ["The first", nil, "the screen beneath", "anywhere"])
        #expect(drawing.boxes.map(\.kind) == [.start, .presented, .somewhere, .somewhere])
        #expect(drawing.boxes[0].sends == ["command.Back", "command.Z"])
        #expect(Set(drawing.boxes[1].styles) == [.sheet, .popover] && drawing.boxes[0].styles.isEmpty)
        #expect(drawing.arrows.map(\.from) == [0, 0, 1, 3] && drawing.arrows.map(\.to) == [1, 1, 2, 0])
    }

    @Test("Rules that differ in nothing that is drawn share an arrow")
    func rules() throws {
        let flow = try Flow("shared", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a", sends: ["command.Go"])
            Flow.Screen("b")
            Flow.Transition(on: "command.Go", when: [.top("a")], do: [.push("b")])
            Flow.Transition(on: "command.Go", do: [.push("b")])
        }
        let drawing = try FlowDrawing(of: flow)
        #expect(drawing.arrows.map(\.rules) == [["transitions[0]", "transitions[1]"]])
        #expect(drawing.arrows.map(\.words) == [["Go"]])
    }

    @Test("A short label has at most two lines of 24 characters, and the whole label has everything")
    func words() throws {
        for flow in try DrawnFlows.all() {
            for arrow in try FlowDrawing(of: flow).arrows {
                #expect((1...2).contains(arrow.words.count))
                #expect(arrow.words.allSatisfy { !$0.isEmpty && $0.unicodeScalars.count <= 24 })
                #expect(!arrow.rules.isEmpty)
            }
        }
        let arrows = try FlowDrawing(of: ShippedFlows.flow("ios")).arrows
        let words = arrows.filter { $0.message == "event.SpotifyAuthorizationUpdated" }.map(\.words)
        #expect(words.contains(["SpotifyAuthorizationUpd…", "status: authorized"]))
        #expect(arrows.filter(\.isLink).allSatisfy { $0.rules[0].utf8.starts(with: "links[".utf8) })
    }

    @Test("Waits, acts of the user, buttons, links and guards have their own words")
    func newWords() throws {
        let flow = try Flow(
            yaml: """
                name: hotel
                version: 1
                platform: ios
                start: splash
                screens: { splash: , room: , offer: , help: }
                transitions:
                  - { after: 3s, when: { top: splash }, do: [{ push: room }] }
                  - { on: user.wentBack, where: { screen: room }, do: [{ push: help }] }
                  - { on: user.dismissed, do: [{ popTo: room }] }
                  - on: event.Ending
                    do:
                      - present:
                          screen: offer
                          style: alert
                          title: Longer?
                          buttons: [{ id: yes, title: Yes, sends: command.Extended, do: [{ push: room }] }]
                  - on: command.Checked
                    guard: { accept: event.Good, deadline: 20s, expired: [{ push: help }] }
                    do: [{ push: room }]
                links:
                  - { url: "hotel://r", when: { top: room }, to: { root: help }, otherwise: { root: splash } }
                """, file: "flow.yaml")
        let drawing = try FlowDrawing(of: flow)
        let words = drawing.arrows.map { arrow in
            let places = [arrow.from, arrow.to].map { drawing.boxes[$0].screen ?? drawing.boxes[$0].title ?? "" }
            return "\(places.joined(separator: " → ")): \(arrow.words.joined(separator: ", "))"
        }
        #expect(
            words == [
                "splash → room: after 3s", "room → help: user went back", "anywhere → room: user dismissed",
                "anywhere → offer: Ending", "offer → room: Extended, button Yes",
                "anywhere → room: Checked, after event.Good",
                "anywhere → help: Checked, no answer for 20s", "room → help: hotel://r",
                "anywhere → splash: hotel://r, otherwise",
            ])
        #expect(drawing.arrows[1].lines == ["user.wentBack", "push"])
        #expect(drawing.arrows[2].lines == ["user.dismissed", "popTo"])
        #expect(drawing.arrows[5...6].map(\.rules) == [["transitions[4]"], ["transitions[4]"]])
        #expect(drawing.arrows[5...6].map(\.places) == [["transitions[4]"], ["transitions[4].guard.expired"]])
    }

    @Test("Control characters and long names do not get into a short label")
    func hostile() throws {
        let accents = String(repeating: "\u{301}", count: 100_000)
        let flow = try Flow("hostile", version: 1, platform: "any", start: "a") {
            Flow.Screen("a")
            Flow.Screen("b")
            for value in ["\u{1B}[31m\n\u{202E}", accents] {
                Flow.Transition(
                    on: "event.Got", where: ["name": .value(.string(value))], do: [.push("b")])
            }
        }
        for arrow in try FlowDrawing(of: flow).arrows {
            #expect(arrow.words.count == 2 && arrow.words[1].unicodeScalars.count <= 24)
            #expect(!arrow.words[1].unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E })
        }
    }

    @Test("A flow that is too large is refused in one line")
    func limits() throws {
        #expect(throws: FlowDrawing.TooLarge.self) { try FlowDrawing(of: DrawnFlows.large(screens: 501, rules: 1)) }
        do {
            _ = try FlowDrawing(of: DrawnFlows.large(screens: 501, rules: 1))
        } catch {
            #expect("\(error)" == "the flow has 501 screens; at most 500 are drawn")
        }
        #expect(try FlowDrawing(of: DrawnFlows.large(screens: 500, rules: 1)).boxes.count == 500)
        #expect(try FlowDrawing(of: DrawnFlows.large(screens: 501, rules: 1), within: .file).boxes.count == 501)
    }

    @Test("A flow whose rules lead from each screen to each screen is refused before its arrows are made")
    func arrowLimit() throws {
        let names = (0..<500).map { "s\($0)" }
        let flow = try Flow("dense", version: 1, platform: "any", start: "s0") {
            for name in names { Flow.Screen(name, sends: ["command.Go"]) }
            for name in names { Flow.Transition(on: "command.Go", do: [.push(.screen(name))]) }
        }
        #expect(
            throws: FlowDrawing.TooLarge(description: "the flow has more than 12000 arrows; at most 3000 are drawn")
        ) {
            try FlowDrawing(of: flow)
        }
    }

    @Test("A flow with megabytes of text in its labels is refused")
    func textLimit() throws {
        let text = String(repeating: "x", count: 1 << 20)
        let flow = try Flow("text", version: 1, platform: "any", start: "a") {
            Flow.Screen("a", sends: ["command.Go"])
            Flow.Screen("b", sends: ["command.Go"])
            for _ in 0..<3 {
                Flow.Transition(
                    on: "command.Go", where: ["name": .value(.string(text))], do: [.push("a")])
            }
        }
        #expect(throws: FlowDrawing.TooLarge.self) { try FlowDrawing(of: flow) }
    }
}
