import CommandLineTestSupport
import Contracts
import FlowFiles
import Foundation
import FoundationXML
import Navigation
import Support
import TestSupport
import Testing

@Suite("'segue flow'")
struct FlowVerbTests {
    private static let unused = """
        name: shop
        version: 1
        platform: ios
        start: list
        screens: { list: , unused: }
        transitions: [{ on: event.A, do: [{ push: list }] }]
        """

    @Test("'segue flow check' finds nothing in the shipped flows")
    func clean() async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue.run(
                ["flow", "check", "--strict"] + FlowExamples.shipped.map(FlowExamples.path))
            #expect(result.status == 0 && result.lines.count == 1 && result.error.isEmpty, "\(result.output)")
            #expect(result.output.hasPrefix("no findings in "))
        }
    }

    @Test("'segue flow check' prints a finding on each line, and fails on warnings only with --strict")
    func check() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.unused.replacing("push: list", with: "push: lits"), to: "wrong.yaml")
            try segue.write(Self.unused, to: "unused.yaml")
            let wrong = try await segue("flow", "check", "wrong.yaml", "unused.yaml")
            #expect(wrong.status == 1 && wrong.error.isEmpty)
            #expect(wrong.lines.first == "wrong.yaml:6:43: unknown screen 'lits'; did you mean 'list'?")
            #expect(wrong.lines.last?.hasPrefix("unused.yaml:5:20: warning: nothing leads to 'unused'") == true)

            #expect(try await segue("flow", "check", "unused.yaml").status == 0)
            let strict = try await segue("flow", "check", "--strict", "--json", "-", input: Self.unused)
            #expect(strict.status == 1)
            #expect(
                strict.output.hasPrefix(
                    #"{"code":"unreached","column":20,"file":"standard input","line":5,"message":"nothing leads to"#))
            #expect(strict.output.hasSuffix(#""severity":"warning"}"# + "\n"))
        }
    }

    @Test("'segue flow explore' finds what nothing leads to, and says whether it has explored everything")
    func explore() async throws {
        try await SegueCommandLine.inScratch { segue in
            let whole = try await segue.run(["flow", "explore"] + FlowExamples.shipped.map(FlowExamples.path))
            #expect(whole.status == 0 && whole.lines.count == 1 && whole.error.isEmpty, "\(whole.output)")
            let events = "events at any time: no contract says what services answer"
            #expect(whole.output.hasPrefix("no findings in ") && whole.output.hasSuffix(": all there are; \(events)\n"))

            try segue.write(Self.unused, to: "unused.yaml")
            let limited = try await segue("flow", "explore", "unused.yaml")
            #expect(limited.status == 0)
            #expect(
                limited.lines.first?.hasPrefix("unused.yaml:5:20: note: no message leads to screen 'unused'") == true)
            #expect(limited.output.contains("(not proved) [unreached]"))
            #expect(limited.output.contains("not proved: a path can have any number of 'list'"))

            try segue.write(Self.unused.replacing("push: list", with: "setRoot: list"), to: "unused.yaml")
            let found = try await segue("flow", "explore", "unused.yaml")
            #expect(found.status == 1)
            #expect(
                found.lines.first?.hasPrefix("unused.yaml:5:20: warning: no message leads to screen 'unused'") == true)
            let json = try await segue("flow", "explore", "unused.yaml", "--json")
            #expect(json.status == 1 && json.lines.first?.contains(#""code":"unreached""#) == true, "\(json.output)")
            #expect(json.lines.last?.contains(#""isWhole":true"#) == true, "\(json.output)")
            #expect(
                json.lines.last?.contains(#""memory":"#) == true && json.lines.last?.contains(#""seconds":"#) == true)

            let cut = try await segue.run([
                "flow", "explore", "--states", "1", FlowExamples.path(FlowExamples.shipped[0]),
            ])
            #expect(cut.output.contains("not proved: there are more states; use a greater --states"))
            let twice = try await segue("flow", "explore", "unused.yaml", "unused.yaml")
            #expect(twice.status == 64 && twice.error.contains("flows of different platforms"))
        }
    }

    @Test("With the app's contract, 'segue flow explore' says which events come only as answers, and so what is proved")
    func answers() async throws {
        try await SegueCommandLine.inScratch { segue in
            let (flow, contract) = (FlowExamples.path("ios"), FlowExamples.contract)
            let types = [
                "SpotifyAuthURLGenerated", "SpotifyAuthorizationUpdated", "SpotifyDeviceActivationRequired",
                "SpotifyPremiumOnlyActionAttempted",
            ]
            let found = try await segue("flow", "explore", flow, "--contract", contract)
            #expect(found.status == 0 && found.lines.count == 1, "\(found.output)\(found.error)")
            let events = types.map { "'event.\($0)'" }.joined(separator: ", ")
            #expect(
                found.output.hasSuffix(": all there are; \(events) only as answers of services\n"), "\(found.output)")
            let json = try await segue("flow", "explore", flow, "--contract", contract, "--json")
            let answers = types.map { "\"event.\($0)\"" }.joined(separator: ",")
            #expect(json.output.contains("\"answers\":[\(answers)]"), "\(json.output)")
            // A playlist is chosen anew over a chosen one only on another platform.
            let alone = try await segue("flow", "explore", flow, "--alone", "--contract", contract)
            #expect(alone.status == 1 && alone.lines.first?.contains("[never-applies]") == true, "\(alone.output)")
        }
    }

    @Test(
        "'segue flow tests' writes scenarios that take every rule, and 'segue flow cover' counts the rules that are taken"
    )
    func cover() async throws {
        try await SegueCommandLine.inScratch { segue in
            let flow = FlowExamples.path(FlowExamples.shipped[0])
            let written = try await segue.run(["flow", "tests", flow, "tests"])
            #expect(written.status == 0 && written.output.contains(" scenarios take "), "\(written.error)")
            let all = try await segue.shell("segue flow cover --least 100 \(flow) tests/*.yaml")
            #expect(all.status == 0 && all.lines.count == 1, "\(all.output)\(all.error)")
            let again = try await segue.shell(
                "cp -r tests first && segue flow tests \(flow) tests && diff -r first tests")
            #expect(again.status == 0, "each run writes the same: \(again.output)\(again.error)")

            let mutants = try await segue.run(["flow", "tests", flow, "tests", "--mutants", "3", "--seed", "7"])
            #expect(
                mutants.status == 0 && mutants.lines.last?.contains(" of 3 mistakes are found, ") == true,
                "\(mutants.output)")

            let some = try await segue.shell("segue flow cover --least 100 \(flow) tests/*-1.yaml")
            #expect(
                some.status == 1 && some.lines.first?.contains(": note: this is never taken") == true, "\(some.output)")
            let json = try await segue.shell("segue flow cover --json \(flow) tests/*-1.yaml")
            #expect(json.status == 0 && json.lines.last?.contains(#""taken":"#) == true, "\(json.output)")

            try segue.write(
                "- send: event.LaunchFinished\n  expect: { root: generatedPlaylist }\n", to: "tests/scenario-1.yaml")
            let failed = try await segue.run(["flow", "cover", flow, "tests/scenario-1.yaml"])
            #expect(failed.status == 1 && failed.error.contains("'root' is not what was expected"), "\(failed.error)")
            let refused = try await segue.run(["flow", "tests", flow, "tests"])
            #expect(refused.status == 74 && refused.error.contains("was not written by this command"))
            #expect(try await segue.run(["flow", "cover", flow]).status == 64)
            for options in ["-p shop", "--live --json"] {
                let result = try await segue.shell("segue flow cover \(flow) tests/scenario-1.yaml \(options)")
                #expect(result.status == 64 && result.output.isEmpty, "\(options)")
            }
            let none = try await segue.shell("segue flow cover \(flow) first/*.yaml --live -p shop")
            #expect(none.status == 69 && none.lines.count == 1 && none.error.contains("segue up"), "\(none.error)")
            let rules = (0..<500).map { "  - { on: event.E\($0), do: [{ push: list }] }\n" }.joined()
            try segue.write(
                "name: a\nversion: 1\nplatform: ios\nstart: list\nscreens: { list: }\ntransitions:\n\(rules)",
                to: "large.yaml")
            let large = try await segue.shell(
                "echo '- send: event.E1' > one.yaml && segue flow cover large.yaml one.yaml --live")
            #expect(large.error.contains("499 places") && large.errorLines.count == 1, "\(large.error)")
        }
    }

    @Test("'segue flow diff' tells what changes for users, in three forms")
    func diff() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(Self.unused, to: "old.yaml")
            try segue.write(Self.unused.replacing("push: list", with: "push: unused"), to: "new.yaml")
            let text = try await segue("flow", "diff", "old.yaml", "new.yaml")
            #expect(text.status == 1)
            #expect(text.lines.contains { $0 == "screen 'unused' is new" }, "\(text.output)")
            let change = "on 'list', event.A leads to 'unused'; before: 'list' stays"
            #expect(text.lines.contains { $0 == change }, "\(text.output)")
            #expect(text.error.contains("not compared: a path can have any number of 'list'"))
            let json = try await segue("flow", "diff", "old.yaml", "new.yaml", "--json")
            #expect(json.status == 1 && json.output.contains(#""newScreens":["unused"]"#), "\(json.output)")
            let markdown = try await segue("flow", "diff", "old.yaml", "new.yaml", "--markdown")
            #expect(markdown.status == 1 && markdown.output.contains("stateDiagram-v2"), "\(markdown.output)")
            let same = try await segue("flow", "diff", "old.yaml", "old.yaml")
            #expect(same.status == 0 && same.output == "nothing changes for users\n")
        }
    }

    @Test("The steps of the workflow file pass for a flow with tests, and describe the change")
    func workflow() async throws {
        let file = try String(contentsOfFile: Repository.path("config/flows/review-workflow.yml"), encoding: .utf8)
        // The commands of a step are on its line, or on the lines after it.
        let steps = file.components(separatedBy: "      - name: ").dropFirst().map { step -> String in
            let text = step.components(separatedBy: "run: ")[1]
            return text.hasPrefix("|\n") ? String(text.dropFirst(2)) : text
        }
        try #require(steps.count == 4)
        try await SegueCommandLine.inScratch { segue in
            let flow = FlowExamples.path(FlowExamples.shipped[0])
            let prepared = try await segue.shell(
                """
                set -euo pipefail
                git init -q . && mkdir flows && cp \(flow) flows/ios.yaml
                git add . && git -c user.name=t -c user.email=t@example.com commit -qm flow && git branch base
                segue flow tests flows/ios.yaml flows/tests
                sed -i 's/^version: .*/version: 99/' flows/ios.yaml
                """)
            try #require(prepared.status == 0, "\(prepared.error)")
            let variables = "FLOW=flows/ios.yaml SCENARIOS=flows/tests BASE=base GITHUB_STEP_SUMMARY=summary.md"
            for step in steps {
                let result = try await segue.shell("set -eo pipefail; export \(variables)\n\(step)")
                #expect(result.status == 0, "\(step)\(result.output)\(result.error)")
            }
            let summary = try String(contentsOfFile: "\(segue.directory)/summary.md", encoding: .utf8)
            #expect(summary == "Nothing changes for users.\n")
        }
    }

    @Test("'segue flow check' compares a flow with the contract in a file, or of a compose file's services")
    func contract() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                Self.unused.replacing(
                    "screens: { list: , unused: }", with: "screens: { list: { sends: [command.Buy], once: true } }"
                )
                .replacing("event.A", with: "event.Sale").replacing("push: list", with: "setRoot: list"),
                to: "shop.yaml")
            try ContractShop.write(segue)
            try await segue("contract", "export", "-o", "contract.json")
            #expect(try await segue("flow", "check", "--strict", "shop.yaml").status == 0)
            for origin in [["--contract", "contract.json"], ["-f", "compose.yaml"]] {
                let result = try await segue.run(["flow", "check", "--strict"] + origin + ["shop.yaml"])
                #expect(result.status == 1 && result.error.isEmpty, "\(result.error)")
                #expect(
                    result.output
                        == "shop.yaml:6:17: warning: the app has no message 'event.Sale'; did you mean 'event.Sold'? "
                        + "[unknown-message]\n")
            }
            let missing = try await segue("flow", "check", "--contract", "none.json", "shop.yaml")
            #expect(missing.status == 66 && missing.errorLines.count == 1)
            #expect(try await segue("flow", "check", "--contract", "a", "-f", "b", "shop.yaml").status == 64)

            let none = try await segue("flow", "check")
            #expect(none.status == 78 && none.errorLines.count == 1, "\(none.error)")
            #expect(none.error.hasPrefix("segue: no service of the compose file names a flow with --flow; "))
            try segue.write(
                """
                services:
                  ios: { command: navigation-coordinator --flow shop.yaml }
                  other: { command: navigation-coordinator --flow=../shop.yaml, working_dir: folder }
                """, to: "compose.override.yaml")
            try FileManager.default.createDirectory(
                atPath: "\(segue.directory)/folder", withIntermediateDirectories: false)
            let all = try await segue("flow", "check", "--strict")
            #expect(all.status == 1 && all.error.isEmpty, "\(all)")
            #expect(all.output.hasPrefix("shop.yaml:6:17: warning: the app has no message 'event.Sale'; "))
            #expect(all.lines.count == 1, "a flow of two services is checked once")
            try segue.write("name: shop\nversion: 1\nplatform: ios\nstart: lits\nscreens: { list: }", to: "shop.yaml")
            let broken = try await segue("flow", "check")
            #expect(broken.status == 1 && broken.error.isEmpty, "no coordinator is asked: \(broken.error)")
            #expect(try await segue("flow", "check", "--contract", "none.json", "shop.yaml").status == 66)
            #expect(broken.output.hasPrefix("shop.yaml:"), "\(broken.output)")
        }
    }

    @Test("'segue flow check' prints only notes about service outcomes that no rule answers")
    func notes() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                Self.unused.replacing(
                    "screens: { list: , unused: }", with: "screens: { list: { sends: [command.Buy], once: true } }"
                )
                .replacing("event.A", with: "command.Buy").replacing("push: list", with: "setRoot: list"),
                to: "shop.yaml")
            try ContractShop.write(segue)
            try ContractShop.write(
                Document.ServiceContract(
                    name: "till", version: "1", receives: [], sends: [MessageContract(type: ContractShop.buy)]),
                as: "till",
                segue)
            let result = try await segue("flow", "check", "--strict", "-f", "compose.yaml", "shop.yaml")
            #expect(result.status == 0)
            #expect(
                result.output
                    == "shop.yaml:6:1: note: no rule answers 'event.Sold' of store; add one, or list the type "
                    + "under 'ignores' [unanswered-message]\n"
            )
        }
    }

    @Test("'segue flow run' plays the shipped scenarios, one line a step", arguments: FlowExamples.shipped)
    func run(name: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue("flow", "run", FlowExamples.path(name), FlowExamples.scenario(name))
            #expect(result.status == 0 && result.error.isEmpty, "\(result.output)")
            let start = "1. event.LaunchFinished: launch → root serviceSelection-2"
            #expect(result.lines.first == "\(start)  \(name).yaml:\(name == "ios" ? 48 : 49)")
            #expect(result.lines.count > 20)
        }
    }

    @Test("'segue flow run' fails with the place of the first unmet expectation, or of all")
    func fails() async throws {
        try await SegueCommandLine.inScratch { segue in
            let story = """
                - { send: event.LaunchFinished, expect: { root: serviceSelection, leaving: launch } }
                - { send: event.LaunchFinished, expect: { top: launch } }
                """
            try segue.write(story, to: "story.yaml")
            let first = try await segue("flow", "run", FlowExamples.path("ios"), "story.yaml")
            #expect(first.status == 1 && first.error.isEmpty)
            #expect(
                first.lines.dropFirst() == [
                    "story.yaml:1:33: no change of 'dismissed' was expected", "  + dismissed: [launch-1]",
                ])
            let all = try await segue("flow", "run", FlowExamples.path("ios"), "story.yaml", "--keep-going", "--json")
            #expect(all.status == 1 && all.lines.count == 2)
            #expect(
                all.lines.last?.contains(#""failures":[{"aspect":"top","column":43,"expected":["launch"],"#) == true)
            let input = try await segue("flow", "run", FlowExamples.path("ios"), "-", input: story)
            #expect(input.lines.contains("standard input:1:33: no change of 'dismissed' was expected"))
        }
    }

    @Test("'segue flow run' plays a recording, reports where it differs, and shows one moment of it")
    func recording() async throws {
        try await SegueCommandLine.inScratch { segue in
            let message = #"{"specversion":"1.0","id":"m1","source":"x","type":"event.A","data":{}}"# + "\n"
            try segue.write(Self.unused, to: "shop.yaml")
            try segue.write(message, to: "inputs.jsonl")
            let run = try await segue("flow", "run", "shop.yaml", "--recording", "inputs.jsonl")
            #expect(run.status == 0 && run.output == "1. event.A: list → push list-2  shop.yaml:6\n")
            #expect(
                run.error == "segue: inputs.jsonl has no states of the platform ios; no states are compared\n")
            let moment = try await segue(
                "flow", "run", "shop.yaml", "--recording", "inputs.jsonl", "--until", "1", "--json")
            #expect(moment.lines.count == 1 && moment.output.contains(#""revision":1"#))

            let document = """
                {"specversion":"1.0","id":"m1.ios.0","causationid":"m1","source":"x","key":"ios",\
                "type":"document.NavigationState","data":\(moment.output.trimmingCharacters(in: .newlines))}
                """
            try segue.write(message + document, to: "same.jsonl")
            let same = try await segue("flow", "run", "shop.yaml", "--recording", "same.jsonl")
            #expect(same.status == 0 && same.output == run.output && same.error.isEmpty)
            let elsewhere = document.replacing(#""instance":"list-2""#, with: #""instance":"list-3""#)
            try segue.write(message + elsewhere, to: "other.jsonl")
            let other = try await segue("flow", "run", "shop.yaml", "--recording", "other.jsonl")
            #expect(other.status == 1 && other.error.isEmpty)
            #expect(
                other.lines.dropFirst() == [
                    "other.jsonl:1:1: 'path' is not what was recorded", "  - path: [list-3]", "  + path: [list-2]",
                ], "\(other.output)")
            for arguments in [[], ["story.yaml", "--recording", "x"], ["story.yaml", "--until", "1"]] {
                #expect(try await segue.run(["flow", "run", "shop.yaml"] + arguments).status == 64)
            }
        }
    }

    @Test("'segue flow export' writes the same flow as YAML, from YAML and from JSON of a built flow")
    func export() async throws {
        try await SegueCommandLine.inScratch { segue in
            for name in FlowExamples.shipped + ["shop"] {
                let yaml = try await segue("flow", "export", FlowExamples.path(name))
                #expect(yaml.status == 0)
                let flow = try Flow(yaml: yaml.output, file: "exported.yaml")
                #expect(try await segue("flow", "export", "-", input: flow.json.description).output == yaml.output)
            }
        }
    }

    @Test("'segue flow' refuses an invalid flow or file, with each mistake on a line")
    func refuses() async throws {
        try await SegueCommandLine.inScratch { segue in
            let missing = try await segue("flow", "check", "none.yaml")
            #expect(missing.status == 66)
            #expect(
                missing.error
                    == "segue: there is no file none.yaml; name a file such as config/flows/ios.yaml\n")
            let folder = try await segue("flow", "check", ".")
            #expect(folder.status == 66 && folder.error == "segue: . is a folder; name a file such as ./*.yaml\n")
            for arguments in [["export", "-"], ["graph", "-"], ["run", "-", "none.yaml"]] {
                let wrong = try await segue.run(["flow"] + arguments, input: "name: shop")
                #expect(wrong.status == 78 && wrong.output.isEmpty)
                #expect(
                    wrong.errorLines.count == 5 && wrong.error.hasPrefix("segue: standard input:1:1: the flow lacks"))
            }
            let scenario = try await segue("flow", "run", FlowExamples.path("ios"), "-", input: "- bak")
            #expect(scenario.error == "segue: standard input:1:3: unknown step 'bak'; did you mean 'back'?\n")
            #expect(try await segue("flow", "run", "-", "-").status == 64)
        }
    }

    @Test("The help of 'segue flow' has examples", arguments: [[], ["check"], ["graph"], ["run"], ["export"]])
    func help(verb: [String]) async throws {
        try await SegueCommandLine.inScratch { segue in
            let help = try await segue.run(["flow"] + verb + ["--help"])
            #expect(help.status == 0 && help.output.contains("segue flow \(verb.first ?? "check")"))
        }
    }
}

@Suite("'segue flow graph'")
struct FlowGraphVerbTests {
    @Test(
        "'segue flow graph' draws the same flow the same way each time", arguments: FlowExamples.shipped + ["shop"],
        ["dot", "mermaid"])
    func golden(name: String, format: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let result = try await segue("flow", "graph", FlowExamples.path(name), "--format", format)
            #expect(result.status == 0)
            #expect(result.output == (try FlowExamples.drawing(name, format)))
        }
    }

    @Test("'segue flow graph' draws an SVG with the names of all screens", arguments: FlowExamples.shipped + ["shop"])
    func svg(name: String) async throws {
        try await SegueCommandLine.inScratch { segue in
            let path = FlowExamples.path(name)
            let result = try await segue("flow", "graph", path)
            try #require(result.status == 0, "\(result.error)")
            let texts = try SVGTexts(result.output).texts
            let flow = try Flow(yaml: String(contentsOfFile: path, encoding: .utf8), file: path)
            for screen in flow.screens.values {
                #expect(texts.contains(screen.name))
                if let title = screen.title { #expect(texts.contains(title)) }
            }
        }
    }

    @Test("'segue flow graph' names the program to install if Graphviz is missing")
    func noGraphviz() async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            segue.environment["PATH"] = segue.directory
            let result = try await segue("flow", "graph", FlowExamples.path("ios"))
            #expect(result.status == 69 && result.output.isEmpty)
            #expect(result.errorLines.count == 1 && result.error.contains("'apt-get install graphviz'"))
            #expect(try await segue("flow", "graph", FlowExamples.path("ios"), "--format", "dot").status == 0)
        }
    }

    @Test("'segue flow graph' needs either a file or --live, and --live needs a running gateway")
    func live() async throws {
        try await SegueCommandLine.inScratch { segue in
            let file = FlowExamples.path("ios")
            for arguments in [[], ["--live", file], ["--live", "--format", "dot"], [file, "-p", "shop"]] {
                let result = try await segue.run(["flow", "graph"] + arguments)
                #expect(result.status == 64 && result.output.isEmpty, "\(arguments)")
            }
            let none = try await segue("flow", "graph", "--live", "-p", "shop")
            #expect(none.status == 69 && none.errorLines.count == 1 && none.error.contains("segue up"))
            let strange = try await segue("flow", "graph", "--live", "--bus", "ipc:///nowhere")
            #expect(strange.status == 69 && strange.errorLines.count == 1 && strange.error.contains("-p"))
        }
    }
}

/// The texts of an SVG.
private final class SVGTexts: NSObject, XMLParserDelegate {
    private(set) var texts: Set<String> = []
    private var text = ""

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        try #require(parser.parse(), "\(parser.parserError.debugDescription)")
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        text += string
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        if name == "text" { texts.insert(text.replacing("\u{A0}", with: " ")) }
    }
}

/// The flows that the tests draw and check.
enum FlowExamples {
    static let shipped = ["ios", "mac"]

    /// The path of a flow of the project, or of a flow that exists only for the tests of drawings.
    static func path(_ name: String) -> String {
        repository(shipped.contains(name) ? "config/flows/\(name).yaml" : "Tests/Fixtures/FlowDrawings/\(name).yaml")
    }

    /// The path of the contract of the project's app.
    static let contract = repository("config/contract.json")

    static func scenario(_ name: String) -> String { repository("config/flows/scenarios/\(name).yaml") }

    /// An expected drawing. To replace it: `segue flow graph FILE --format FORMAT >
    /// Tests/Fixtures/FlowDrawings/NAME.FORMAT`.
    static func drawing(_ name: String, _ format: String) throws -> String {
        try String(contentsOfFile: repository("Tests/Fixtures/FlowDrawings/\(name).\(format)"), encoding: .utf8)
    }

    private static func repository(_ relative: String) -> String {
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../\(relative)").standardizedFileURL.path
    }
}
