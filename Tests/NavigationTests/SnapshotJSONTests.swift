import Foundation
import HostileValues
import SampleFlows
import Support
import TestSupport
import Testing

@testable import Navigation

@Suite("The JSON of a snapshot")
struct SnapshotJSONTests {
    private static let count = 1000

    @Test("Random snapshots are written with the bytes that Foundation writes, and read again", arguments: 0..<4)
    func written(seed: UInt64) throws {
        var random = RandomValues(SeededGenerator(seed: seed))
        for _ in 0..<Self.count {
            let snapshot = Self.snapshot(&random)
            let json = try JSONWriter.bytes(of: snapshot)
            let expected = try FoundationJSON.encoder.encode(ReferenceSnapshot(snapshot: snapshot))
            #expect(String(decoding: json, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
            let read = try JSONReader.decode(NavigationSnapshot.self, from: json)
            #expect(try read == FoundationJSON.decoder.decode(NavigationSnapshot.self, from: Data(json)))
            #expect(read.state.open.map(\.id) == snapshot.state.open.map(\.id))
            #expect(read.memory == snapshot.memory)
        }
    }

    @Test("A changed text is refused, or is read as a snapshot that can be written", arguments: 0..<4)
    func changed(seed: UInt64) throws {
        var random = RandomValues(SeededGenerator(seed: seed))
        for _ in 0..<Self.count {
            let json = random.changed(try JSONWriter.bytes(of: Self.snapshot(&random)))
            guard let snapshot = try? JSONReader.decode(NavigationSnapshot.self, from: json) else { continue }
            let again = try JSONReader.decode(NavigationSnapshot.self, from: JSONWriter.bytes(of: snapshot))
            #expect(again == snapshot)
        }
    }

    @Test("Of two members with the same name the first one counts, in any order")
    func duplicates() throws {
        let json =
            #"{"run":"r1","screen":"a","arguments":{},"instance":"a-1","run":"r2","screen":"b","arguments":{"n":1}}"#
        let instance = try JSONReader.decode(ScreenInstance.self, from: json.utf8)
        #expect(instance == ScreenInstance(screen: "a", id: "a-1", run: "r1"))
    }

    @Test("The error for a snapshot has the path of the value")
    func errors() throws {
        let root = #"{"screen":"a","instance":"a-1","arguments":{}}"#
        let texts = [
            (#"{"root":\#(root),"path":[{}],"leaving":[],"presented":null}"#, "path.Index 0"),
            (#"{"root":\#(root),"path":[],"leaving":[{"instance":1}],"presented":null}"#, "leaving.Index 0"),
            (
                #"{"root":{"screen":"a","instance":1,"arguments":{}},"path":[],"leaving":[],"presented":null}"#,
                "root.instance"
            ),
            (#"{"root":\#(root),"path":[],"leaving":[]}"#, ""),
            (#"{"root":\#(root),"path":[],"leaving":[],"presented":[]}"#, "presented"),
        ]
        for (text, path) in texts {
            let error = #expect(throws: DecodingError.self) {
                try JSONReader.decode(NavigationState.self, from: text.utf8)
            }
            #expect(error.map(Self.path) == path, "\(text)")
        }
    }

    private static func path(_ error: DecodingError) -> String {
        let context =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: DecodingError.Context(codingPath: [], debugDescription: "")
            }
        return context.codingPath.map(\.stringValue).joined(separator: ".")
    }

    // MARK: Random snapshots

    private typealias Random = RandomValues<SeededGenerator>

    private static func snapshot(_ random: inout Random) -> NavigationSnapshot {
        var entries: [NavigationMemory.Entry] = []
        for _ in 0..<random.number(in: 0...2) {
            let button = random.chance(1, in: 2) ? random.string() : nil
            entries.append(.departure(.init(instance: random.string(), report: random.string(), button: button)))
        }
        if random.chance(1, in: 3) { entries.append(.endOfAttempt(random.string())) }
        if random.chance(1, in: 3) { entries.append(.tabReport(random.string())) }
        var memory = NavigationMemory()
        memory.record(entries, instances: random.number(in: 0...99))
        return NavigationSnapshot(
            platform: random.string(), session: random.string(), revision: random.number(in: 0...1000),
            flow: FlowIdentity(name: random.string(), version: random.number(in: -5...5), hash: random.string()),
            cause: optional(&random), rule: optional(&random), commands: strings(&random), state: state(&random),
            memory: memory, url: optional(&random), withoutBack: strings(&random))
    }

    private static func state(_ random: inout Random) -> NavigationState {
        var state = NavigationState(root: RootScreen(instance(&random)))
        switch random.number(in: 0...3) {
        case 0:
            state.root.container = .split(columns: [
                random.string(): stack(&random), random.string() + "-": stack(&random),
            ])
        case 1:
            let tabs = [Container.Tab("one", stack(&random)), Container.Tab(random.string(), stack(&random))]
            state.root.container = .tabs(tabs, selected: "one")
        default: break
        }
        state.path = instances(&random)
        state.leaving = instances(&random)
        state.presentations = (0..<random.number(in: 0...2)).map { _ in presentation(&random) }
        if random.chance(1, in: 4) {
            state.runs = [FlowRun(id: "login-5", flow: random.string(), first: random.string())]
        }
        if random.chance(1, in: 4) {
            state.parked = ParkedLink(
                url: random.string(), messageID: random.string(), expires: random.number(in: 0...9))
        }
        if random.chance(1, in: 4) {
            let wait = PendingWait(id: random.string(), rule: random.string(), run: nil, delay: .seconds(1))
            state.waits = [wait]
        }
        for _ in 0..<max(0, random.number(in: -4...2)) {
            let message = Machine.Input(id: random.string(), type: random.string(), data: random.json())
            state.attempts.append(
                PendingGuard(
                    id: random.string(), rule: random.string(), instance: random.string(), run: optional(&random),
                    deadline: .seconds(5), message: message))
        }
        return state
    }

    private static func presentation(_ random: inout Random) -> Presentation {
        var options = PresentationOptions(title: optional(&random), message: optional(&random))
        options.detents = random.chance(1, in: 2) ? [.medium, .large] : nil
        options.dragIndicator = random.chance(1, in: 2) ? true : nil
        options.interactiveDismissal = random.chance(1, in: 2) ? false : nil
        if random.chance(1, in: 3) {
            let data = random.chance(1, in: 2) ? random.object(depth: 1) : nil
            options.buttons = [AlertButton(id: random.string(), title: random.string(), role: .cancel, data: data)]
        }
        let style = PresentationStyle.allCases.randomElement(using: &random.generator) ?? .sheet
        return Presentation(style, instance(&random), options: options, path: instances(&random))
    }

    private static func stack(_ random: inout Random) -> ScreenStack {
        ScreenStack(instance(&random), path: instances(&random))
    }

    private static func instances(_ random: inout Random) -> [ScreenInstance] {
        (0..<random.number(in: 0...2)).map { _ in instance(&random) }
    }

    private static func instance(_ random: inout Random) -> ScreenInstance {
        let arguments = random.object(depth: 2)
        return ScreenInstance(
            screen: random.string(), id: random.string(), arguments: arguments, run: optional(&random))
    }

    private static func optional(_ random: inout Random) -> String? {
        random.chance(1, in: 2) ? random.string() : nil
    }

    private static func strings(_ random: inout Random) -> [String] {
        (0..<random.number(in: 0...2)).map { _ in random.string() }
    }
}
