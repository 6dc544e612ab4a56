import Contracts
import Coordinator
import Device
import EventBus
import Logging
import Navigation
import Observation
import Support
import TestSupport
import Testing

extension Command { struct CoffeeTaken: CommandMessage {} }
extension Document { struct Cup: DocumentMessage { var kind: String } }

struct CupViewModel: ViewModel {
    private let served: Document.Cup?

    init(documents: LatestDocuments, arguments: [String: String]) {
        served = documents[Document.Cup.self]
    }

    var content: ScreenContent {
        ScreenContent(
            title: "Your coffee", rows: [served.map { "A \($0.kind)" } ?? "Brewing…"],
            actions: [ScreenAction("Take it", Command.CoffeeTaken())], isLoading: served == nil)
    }
}

extension AppScreens {
    static let coffee = AppScreens(
        flow: "coffee", platforms: ["ios"], viewModels: ["cup": CupViewModel.self],
        documents: [Document.Cup.self], commands: [Command.CoffeeTaken.self])
}

@Suite("The device that SwiftUI observes, with the view model of docs/views.md")
struct DeviceModelTests {
    @MainActor
    @Test("A device shows the screens, sends the user's choices, and reports back and dismissals")
    func device() async throws {
        let bus = EventBus.inMemory(source: "app/1")
        let flow = try Flow("coffee", version: 1, platform: "ios", start: "menu") {
            Flow.Screen("menu", sends: ["command.MenuRead"])
            Flow.Screen("cup", sends: ["command.CoffeeTaken"])
            Flow.Screen("receipt")
            Flow.Transition(on: "command.MenuRead", do: [.push("cup")])
            Flow.Transition(on: "command.CoffeeTaken", do: [.present("receipt", as: .sheet)])
        }
        let logger = Logger.silent
        let model = DeviceModel(
            DeviceIdentity(platform: "ios", device: "phone", source: "app/1"), screens: .coffee, bus: bus,
            logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Coordinator(flow: flow, source: "", bus: bus, logger: logger).run() }
            group.addTask { try await model.run() }
            try await model.until { $0.scene?.active.first?.screen == "menu" }
            model.choose(try #require(model.scene?.choices.first))
            try await model.until { $0.path.map(\.screen) == ["cup"] }
            #expect(model.scene?.layers.last?.content.isLoading == true)
            try await bus.publish(Document.Cup(kind: "lungo"))
            try await model.until { $0.scene?.layers.last?.content.isLoading == false }
            model.choose(try #require(model.scene?.choices.first))
            try await model.until { $0.presented?.instance.screen == "receipt" }
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
