import Contracts
import Coordinator
import Device
import EventBus
import Foundation
import Logging
import Navigation
import Observation
import Support
import TestSupport
import Testing

@Suite("Samples of docs/views.md")
struct ViewsPageTests {
    @Test("The page has the adapter that these tests compile and run")
    func program() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let adapter = try String(contentsOf: folder.appending(path: "DeviceModel.swift"), encoding: .utf8)
        let page = try String(contentsOf: folder.appending(path: "../../docs/views.md").standardized, encoding: .utf8)
        #expect(page.contains("```swift\n\(adapter)```\n"))
    }

    @Test("The page of the wire protocol lists what views send, with the fields of the data")
    func sent() throws {
        let page = try String(contentsOfFile: Repository.path("docs/wire-protocol.md"), encoding: .utf8)
        let section = page.components(separatedBy: "\n## A view\n").last?.components(separatedBy: "\n## ").first ?? ""
        var listed: [String: Set<String>] = [:]
        for row in section.matches(of: #/(?m)^\| [^|]+ \| (`[^|]*`) \| ([^|]*) \|$/#) {
            let fields = Set(row.2.matches(of: #/`(\w+)`/#).map { String($0.1) }).subtracting(["id"])
            for type in row.1.matches(of: #/`(?:command\.|event\.)?(\w+)`/#) { listed[String(type.1)] = fields }
        }
        let sent = PlatformMessages.all.filter {
            $0.type.kind == .command && !["NavigationRequested", "DataDispatched"].contains($0.type.name)
        }
        for message in sent + [DomainEvent.DeepLinkReceived.self] {
            guard case .object(let fields) = try JSONSchema(of: message) else { continue }
            #expect(listed[message.type.name] == Set(fields.keys), "\(message.type)")
        }
    }

    @MainActor
    @Test("The adapter shows the screens, sends the user's choices, and reports back and dismissals")
    func adapter() async throws {
        let bus = EventBus.inMemory(source: "app/1")
        let flow = try Flow("coffee", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu", sends: ["command.CoffeeOrdered"])
            Flow.Screen("cup", sends: ["command.HelpRequested"])
            Flow.Screen("help")
            Flow.Transition(on: "command.CoffeeOrdered", do: [.push("cup")])
            Flow.Transition(on: "command.HelpRequested", do: [.present("help", as: .sheet)])
        }
        let logger = Logger.silent
        let screens = AppScreens(flow: "coffee", platforms: ["ios"], viewModels: [:], documents: [], commands: [])
        let model = DeviceModel(
            DeviceIdentity(platform: "ios", device: "phone", source: "app/1"), screens: screens, bus: bus)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Coordinator(flow: flow, source: "", bus: bus, logger: logger).run() }
            group.addTask { try await model.run() }
            try await model.until { $0.scene?.active.first?.screen == "menu" }
            model.choose(try #require(model.scene?.choices.first))
            try await model.until { $0.path.map(\.screen) == ["cup"] }
            model.choose(try #require(model.scene?.choices.first))
            try await model.until { $0.presented?.instance.screen == "help" }
            model.presented = nil
            try await model.until { $0.presented == nil }
            model.path = []
            try await model.until { $0.path.isEmpty }
            group.cancelAll()
        }
    }
}

extension DeviceModel {
    /// Waits until a condition holds.
    fileprivate func until(_ holds: @escaping @MainActor (DeviceModel) -> Bool) async throws {
        while !holds(self) {
            let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let isMet = withObservationTracking {
                holds(self)
            } onChange: {
                changed.yield()
            }
            if isMet { return }
            for await _ in changes { break }
            try Task.checkCancellation()
        }
    }
}
