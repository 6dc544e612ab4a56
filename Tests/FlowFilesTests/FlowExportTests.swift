import FlowFiles
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("Export of a flow as YAML")
struct ExportTests {
    private static let flows: [@Sendable () throws -> Flow] = [
        { try ShippedFlows.flow("ios") }, { try ShippedFlows.flow("mac") }, FocusPlayerFlow.ios, FocusPlayerFlow.mac,
        SignUpFlow.built, { try GuardFlow.flow() }, PlaygroundFlow.flow, EverythingFlow.flow,
    ]

    @Test("An exported flow reads as the same flow, and is written the same way again", arguments: flows.indices)
    func readsBack(index: Int) throws {
        let flow = try Self.flows[index]()
        let read = try Flow(yaml: flow.yaml, file: "written.yaml")
        #expect(read == flow)
        #expect(read.yaml == flow.yaml)
    }

    @Test("The export of every shipped flow reads as the same flow")
    func files() throws {
        for text in try ShippedFlows.texts() {
            let flow = try Flow(yaml: text, file: "shipped.yaml")
            #expect(try Flow(yaml: flow.yaml, file: "written.yaml") == flow)
        }
    }

    @Test("Each action without arguments and options reads as the same action")
    func plainActions() throws {
        let alert = PresentationOptions(title: "A", buttons: [AlertButton(id: "ok", title: "OK")])
        let actions: [Flow.Action] = [
            .setRoot("a"), .setRoot("a", container: .split), .setRoot("a", container: .tabs(["a"])), .push("b"),
            .pushFlow("child"), .pop(1), .pop(.to("a")), .pop(.from("b")), .pop(.sender), .goTo("b"), .back, .popToRoot,
            .replacePath([]), .replacePath(["b"]), .present("b", as: .sheet), .present("b", as: .alert, options: alert),
            .presentFlow("child", as: .sheet), .dismiss(nil), .dismiss(.screen("b")), .dismiss(.sender), .dismissAll,
            .selectTab("a"), .show("b", column: "left"), .update("b"), .openURL("https://example.org"),
            .send(type: "command.A"), .ifPossible(.update("b")),
        ]
        let flow = try Flow("plain", version: 1, platform: "any", start: "a") {
            Flow.Screen("a")
            Flow.Screen("b")
            Flow.Child("child", start: "b", transitions: [Flow.Transition(on: "event.End", do: [.finish()])])
            actions.enumerated().map { .transition(Flow.Transition(on: "event.E\($0)", do: [$1])) }
        }
        let read = try Flow(yaml: flow.yaml, file: "written.yaml")
        #expect(read == flow, "\(flow.yaml)")
        #expect(read.hash == flow.hash)
    }

    @Test("An exported flow has the order and the short forms of the documents")
    func form() throws {
        let flow = try Flow("shop", version: 1, platform: "ios", start: "list", requests: [.push, .pop]) {
            Flow.Screen("list", title: "Everything: all", sends: ["command.ItemSelected"])
            Flow.Screen("item")
            Flow.Child("rate", start: "item", transitions: [Flow.Transition(on: "event.Rated", do: [.finish()])])
            Flow.Transition(
                on: "command.ItemSelected",
                where: ["price": .atMost(5), "kind": ["a", "b"], "code": "7"],
                when: [.root("list"), .top("list", "item")],
                do: [.popToRoot, .push(.screen("item", ["itemID": "${data.itemID}"]))]
            )
            Flow.Transition(
                on: "event.ItemBought",
                unless: [.presented()],
                guard: Flow.Guard(
                    ask: "command.Ask", accept: "event.Yes", reject: Flow.Guard.Answer("event.No", where: ["a": true]),
                    deadline: .seconds(90)),
                do: [
                    .presentFlow("rate", as: .sheet, options: PresentationOptions(detents: [.medium])),
                    .setRoot("list", container: .tabs(["list", .tab("mine", "item")])), .send(type: "command.Done"),
                ]
            )
        }
        #expect(
            flow.yaml == """
                name: shop
                version: 1
                platform: ios
                start: list
                requests: [push, pop]

                screens:
                  item:
                  list:
                    title: "Everything: all"
                    sends: [command.ItemSelected]

                flows:
                  rate:
                    start: item
                    transitions:
                      - on: event.Rated
                        do: [finish]

                transitions:
                  - on: command.ItemSelected
                    where:
                      code: "7"
                      kind: [a, b]
                      price:
                        atMost: 5
                    when:
                      root: list
                      top: [list, item]
                    do:
                      - popToRoot
                      - push:
                          screen: item
                          arguments:
                            itemID: ${data.itemID}

                  - on: event.ItemBought
                    unless:
                      presented: []
                    guard:
                      ask: command.Ask
                      accept: event.Yes
                      reject:
                        on: event.No
                        where:
                          a: true
                      deadline: 90s
                    do:
                      - present:
                          flow: rate
                          style: sheet
                          detents: [medium]
                      - setRoot:
                          screen: list
                          container:
                            tabs:
                              - list
                              - name: mine
                                screen: item
                      - send: command.Done

                """)
    }

    @Test(
        "An exported flow reads as the same flow whatever words its data contain", arguments: 0..<200 as Range<UInt64>)
    func anyData(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let data = Self.value(depth: 3, &random)
        let text = Self.word(&random)
        let flow = try Flow("data", version: 1, platform: "any", start: "a") {
            Flow.Screen("a", title: text.isEmpty ? "-" : text)
            Flow.Transition(
                on: "event.A",
                where: ["field": Flow.Match(anyOf: [data, .string(text)], noneOf: [data]), "other": .value(data)],
                when: [.top(.screen("a", ["b": .value(data), "c": Flow.Match(noneOf: [data], atLeast: 1)]))],
                do: [.push(.screen("a", [text: data])), .send(type: "command.A", data: ["push": data])]
            )
        }
        let read = try Flow(yaml: flow.yaml, file: "written.yaml")
        #expect(read == flow, "\(flow.yaml)")
        #expect(read.yaml == flow.yaml)
    }

    private static let words = [
        "", " ", "a", "a b", " a", "a ", "true", "null", "~", "5", "-5", "+5", "0x1F", "1e3", ".5", "1:30", "yes", "on",
        "2026-11-21", "nan", "infinity", "a: b", "a:", "a #b", "#", "- a", "-", "---", "...", "?", "<<", "=", "|", ">-",
        "\"", "'", "\\", "\n", "a\nb", "\t", "\r\n", "\u{7F}", "\u{85}", "\u{A0}", "\u{2028}", "a\u{FEFF}b", "\u{0}",
        "%", "@", "`", "{", "}", "[a]", "a, b", "*a", "&a", "!a", "é", "日本", "😀", "https://example.org/?a=b#c",
        "screen",
        "on", "type", "arguments", "${data.x}", "x${data.x}", "where",
    ]

    private static func word(_ random: inout SeededGenerator) -> String {
        let word = words.randomElement(using: &random) ?? ""
        return random.chance(1, in: 4) ? word + (words.randomElement(using: &random) ?? "") : word
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: depth == 0 ? 3..<8 : 0..<8, using: &random) {
        case 0, 1:
            let members = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                (word(&random), value(depth: depth - 1, &random))
            }
            return .object(Dictionary(members) { first, _ in first })
        case 2:
            return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth: depth - 1, &random) })
        case 3: return .integer(Int.random(in: -9...9, using: &random))
        case 4: return .number(Double.random(in: -1e30...1e30, using: &random))
        case 5: return [.null, true, false].randomElement(using: &random) ?? .null
        default: return .string(word(&random))
        }
    }
}
