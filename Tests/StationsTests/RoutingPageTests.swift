import Consuming
import Contracts
import Coordinator
import EventBus
import Foundation
import Logging
import Navigation
import Routing
import SegueTestSupport
import Stations
import TestSupport
import Testing

@Suite("Samples of docs/flows.md about routers and dispatched data")
struct RoutingPageTests {
    @Test("A router is called as the page shows")
    func router() async throws {
        let hub = InMemoryHub()
        let bus: EventBus = EventBus.inMemory(source: "device/1", hub: hub)
        let coordinator = Coordinator(
            flow: try .stationRouter(), bus: EventBus.inMemory(source: "navigation-coordinator/1", hub: hub),
            logger: .silent, clock: ServiceClock(clock: ManualClock()))
        try await withRunning(coordinator) {
            let router = Router(StationRoute.self, bus: bus, platform: "router")
            try await router.push(.station(code: "YRK"))
            let revision = try await router.push(.departure(id: 7, stationCode: "YRK"))
            try await router.pop()
            try await router.replacePath([.station(code: "LDS"), .settings])
            let routes = try await router.path?.routes
            #expect(revision == 2)
            #expect(routes == [.station(code: "LDS"), .settings])

            let instance = try #require(try await router.path?.entries.last?.instance)
            try await router.pop(from: instance)
            try await router.popToRoot()
            try await router.withPaths { paths in
                for try await path in paths where path.routes.isEmpty { break }
            }
        }
    }

    @Test("The Swift code of the page is in sources that are built")
    func code() throws {
        let page = try FlowFile.text("docs/flows.md")
        let sources = try Self.sources(["Sources/Examples/Stations", "Tests/StationsTests", "Tests/ContractsTests"])
        var count = 0
        for block in page.matches(of: #/(?s)```swift\n(.*?)```/#) {
            let code = Self.unindented(String(block.1))
            #expect(sources.contains { $0.contains(code) }, "nowhere in the sources:\n\(block.1)")
            count += 1
        }
        #expect(count >= 4)
    }

    private static func sources(_ folders: [String]) throws -> [String] {
        try folders.flatMap { folder in
            let names = FileManager.default.enumerator(atPath: FlowFile.root.appending(path: folder).path)
            return try (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map {
                unindented(try FlowFile.text("\(folder)/\($0)"))
            }
        }
    }

    /// The text without indentation.
    private static func unindented(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
