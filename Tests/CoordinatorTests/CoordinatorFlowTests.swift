import Consuming
import Contracts
import Coordinator
import EventBus
import FlowFiles
import Foundation
import Logging
import Navigation
import TestSupport
import Testing

@Suite("Coordinator: published flow")
struct CoordinatorFlowTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    private func coordinator(
        _ flow: Flow, source: String? = "name: shop", bus: EventBus? = nil, logger: Logger = .silent
    ) -> Coordinator {
        Coordinator(
            flow: flow, source: source,
            bus: bus ?? EventBus.inMemory(source: "navigation-coordinator/1", hub: fixture.hub), logger: logger,
            clock: ServiceClock(clock: fixture.clock))
    }

    private var published: Document.Flow? {
        get async throws { try await view.document(Document.Flow.self, key: "ios") }
    }

    @Test("A late view receives the flow of its platform, with its text and the hash of the snapshots")
    func late() async throws {
        let flow = try Flow(yaml: Flow.shop().yaml, file: "flows/shop.yaml")
        try await withRunning(coordinator(flow, source: flow.yaml)) {
            let document = try #require(try await published)
            let snapshot = try #require(try await fixture.currentSnapshot())
            #expect(
                document
                    == Document.Flow(
                        platform: "ios", name: "shop", version: 1, hash: snapshot.flow.hash, source: flow.yaml,
                        rules: flow.ruleLocations.mapValues(\.description)))
            #expect(document.rules?["transitions[0]"]?.hasPrefix("shop.yaml:") == true, "\(document)")
            let read = try Flow(yaml: document.source, file: "published")
            #expect(read.hash == document.hash)
        }
    }

    @Test("The flow is published before the first state of a coordinator")
    func order() async throws {
        try await withRunning(coordinator(.shop())) {
            let flow = try #require(try await view.journalled(Document.Flow.self).first?.position)
            let state = try #require(try await view.journalled(Document.NavigationState.self).first?.position)
            #expect(flow.offset < state.offset)
        }
    }

    @Test("The flow is withdrawn when its coordinator ends, except after another has taken over")
    func takeover() async throws {
        let old = EventBus.inMemory(source: "navigation-coordinator/1", hub: fixture.hub)
        let new = EventBus.inMemory(source: "navigation-coordinator/2", hub: fixture.hub)
        try await old.whileOpen {
            try await withRunning(coordinator(.shop(), source: "old", bus: old)) {
                let source = try await published?.source
                #expect(source == "old")
            }
        }
        #expect(try await published == nil)
        try await new.whileOpen {
            let first = EventBus.inMemory(source: "navigation-coordinator/3", hub: fixture.hub)
            try await first.whileOpen {
                try await withRunning(coordinator(.shop(), source: "first", bus: first)) {
                    let source = try await published?.source
                    #expect(source == "first")
                }
                try await withRunning(coordinator(.shop(), source: "new", bus: new)) {}
            }
            #expect(try await published?.source == "new")
        }
    }

    @Test("A flow that the bus refuses is logged, and the coordinator continues with it")
    func refused() async throws {
        let log = LogRecorder()
        let bus = RefusingBus(
            inner: EventBus.inMemory(source: "navigation-coordinator/1", hub: fixture.hub),
            refuses: { $0.type == Document.Flow.type })
        try await withRunning(coordinator(.shop(), bus: bus.bus, logger: log.logger)) {
            let (state, flow) = (try await fixture.currentSnapshot(), try await published)
            #expect(state != nil && flow == nil)
        }
        #expect(log.lines.contains("error: the flow is not published: it is too large"))
    }
}
