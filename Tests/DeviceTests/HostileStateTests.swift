import Contracts
import Device
import DeviceTestSupport
import EventBus
import Foundation
import Navigation
import Support
import Testing

@Suite("Hostile navigation states", .timeLimit(.minutes(1)))
struct HostileStateTests {
    private static func sample(_ path: [ScreenInstance], _ presentations: [Presentation] = []) throws -> Data {
        let snapshot = try NavigationSnapshot.sample(root: "home", path: path, presentations: presentations)
        return try JSONEncoder().encode(Document.NavigationState(snapshot))
    }

    private static func deep(_ depth: Int, count: Int = 1) throws -> Data {
        var instance = ScreenInstance.sample("deep", 2)
        instance.arguments["list"] = "end"
        let list = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let lists = Array(repeating: list, count: count).joined(separator: ",")
        let state = String(decoding: try sample([instance]), as: UTF8.self)
        return Data(state.replacing(#""end""#, with: "[\(lists)]").utf8)
    }

    /// The data of a state, and a part of the line for the person. Nil if the state is shown.
    private static func cases() throws -> [(name: String, data: Data, complaint: String?)] {
        let many = (2..<10_002).map { ScreenInstance.sample("list", $0) }
        let twice = ScreenInstance.sample("list", 2)
        let sheets = (2..<202).map { Presentation(.sheet, .sample("sheet", $0)) }
        let controls = ScreenInstance(screen: "\u{1B}[2J\u{202E}\n\u{0}", id: "\u{7}\u{2028}")
        let plain = String(decoding: try sample([]), as: UTF8.self)
        let rootless = Data(plain.replacing(#""root":"#, with: #""rot":"#).utf8)
        return [
            ("a missing root", rootless, "cannot be read"), ("null", Data("null".utf8), "cannot be read"),
            ("10,000 screens", try sample(many), "10001 screens"),
            ("an id twice in a path", try sample([twice, twice]), "two screens with the id 'list-2'"),
            ("an id twice in presentations", try sample([], [sheets[0], sheets[0]]), "the id 'sheet-2'"),
            ("the id of the root twice", try sample([.sample("home")]), "the id 'home-1'"),
            ("200 presentations", try sample([], sheets), nil), ("control characters", try sample([controls]), nil),
            ("deep arguments", try deep(100), nil), ("very deep arguments", try deep(5000), "cannot be read"),
            ("many deep arguments", try deep(400, count: 1000), "nested too deeply"),
        ]
    }

    @Test("A hostile state is shown, or refused with a line for the user, and the next state is shown")
    func states() throws {
        for (name, data, complaint) in try Self.cases() {
            var session = DeviceSession(.phone, commandLifetime: .seconds(60))
            var message = try Envelope.answer(Document.NavigationState(.sample(root: "home")))
            message.data = data
            let outputs = try session.handle(.message(message))
            #expect(outputs.contains(where: \.isDrawing) == (complaint == nil), "\(name)")
            #expect(outputs.contains(where: \.isComplaint) == (complaint != nil), "\(name)")
            if let complaint {
                let said = try #require(outputs.said.first, "\(name)")
                #expect(said.contains(complaint) && said.utf8.count < 1000, "\(name): \(said)")
            } else {
                let scene = try #require(session.scene, "\(name)")
                #expect(scene.screens.count == scene.snapshot.state.open.count, "\(name)")
            }
            let next = try Envelope.answer(Document.NavigationState(.sample(revision: 8, root: "home")))
            _ = try session.handle(.message(next))
            #expect(session.scene?.revision == 8, "\(name)")
        }
    }
}
