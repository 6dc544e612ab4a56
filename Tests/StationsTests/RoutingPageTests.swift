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

@Suite("Samples of docs/routing.md")
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

    @Test("The code of the page is in sources that are built, and its YAML in flows that run")
    func code() throws {
        let page = try FlowFile.text("docs/routing.md")
        let sources = [
            "swift": try Self.sources(["Sources/Examples/Stations", "Tests/StationsTests"], "swift"),
            "yaml": try Self.sources(["config/flows/examples"], "yaml"),
        ]
        var count = 0
        for block in page.matches(of: #/(?s)```(swift|yaml)\n(.*?)```/#) {
            let code = Self.unindented(String(block.2))
            let isShown = sources[String(block.1)]?.contains { $0.contains(code) } == true
            #expect(isShown, "nowhere in the sources:\n\(block.2)")
            count += 1
        }
        #expect(count > 10)
    }

    private static func sources(_ folders: [String], _ suffix: String) throws -> [String] {
        try folders.flatMap { folder in
            let names = FileManager.default.enumerator(atPath: FlowFile.root.appending(path: folder).path)
            return try (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(suffix) }.map {
                unindented(try FlowFile.text("\(folder)/\($0)"))
            }
        }
    }

    /// The text without indentation.
    private static func unindented(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
