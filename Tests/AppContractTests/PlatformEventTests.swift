import Contracts
import EventBus
import FlowReview
import Testing

@Suite("Events of the platform")
struct PlatformEventTests {
    @Test("A flow may wait for each event of the platform, although no service sends it")
    func sent() {
        let events = PlatformMessages.all.types.filter { $0.kind == .event }.map(\.description)
        let service = MessageCatalogue.Service(receives: Set(events + ["event.Lost"]), answers: [:])
        let catalogue = MessageCatalogue([:], services: ["service": service])
        #expect(catalogue.isUnsent("event.Lost"))
        #expect(events.filter(catalogue.isUnsent) == [])
    }
}
