import Contracts
import EventBus
import Foundation
import Navigation
import TestSupport
import Testing

@Suite("Coordinator: late and invalid messages")
struct CoordinatorMistakeTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    private func firstDiscarded() async throws -> DomainEvent.MessageDiscarded {
        try await view.received(DomainEvent.MessageDiscarded.self)[0].decode()
    }

    @Test("An expired command is discarded with a report")
    func expired() async throws {
        try await fixture.withShop(later: 61) {
            let command = try await view.send(Command.ItemSelected(itemID: "7"), origin: fixture.phone)
            let discarded = try await firstDiscarded()
            #expect(discarded.messageID == command.id)
            #expect(discarded.reason == "expired")
            #expect(try await fixture.currentSnapshot()?.state.path.isEmpty == true)
        }
    }

    @Test("An expired command of another platform is reported only by that platform's coordinator")
    func expiredElsewhere() async throws {
        try await fixture.withShop(later: 61) {
            try await view.send(Command.ItemSelected(itemID: "7"), origin: Origin(platform: "mac", device: "desk"))
            let own = try await view.send(Command.ItemSelected(itemID: "7"), origin: fixture.phone)
            #expect(try await firstDiscarded().messageID == own.id)
            #expect(try await fixture.currentSnapshot()?.state.path.isEmpty == true)
        }
    }

    @Test("A command of a closed screen is discarded with a report")
    func late() async throws {
        try await fixture.withShop {
            let origin = Origin(platform: "ios", device: "phone-1", instance: "list-99")
            let command = try await view.send(Command.ItemSelected(itemID: "7"), origin: origin)
            let discarded = try await firstDiscarded()
            #expect(discarded.messageID == command.id)
            #expect(discarded.reason.contains("list-99"))
        }
    }

    @Test("A rule that cannot be applied is reported, and the session continues from the previous state")
    func failure() async throws {
        try await fixture.withShop {
            try await view.send(Command.BackRequested(), origin: fixture.phone)
            let error = try await view.received(ApplicationError.self)[0].decode(ApplicationError.self)
            #expect(error.code == "navigation.nothingToPop")
            #expect(error.recovery != nil)
            try await view.send(Command.ItemSelected(itemID: "7"))
            try await fixture.snapshot { $0.state.path.count == 1 }
        }
    }

    @Test("No error is published about an error")
    func errorAboutError() async throws {
        try await fixture.withShop {
            try await view.publish(ApplicationError(code: "test", message: "nothing to pop for this one"))
            try await view.send(Command.ItemSelected(itemID: "7"))
            try await fixture.snapshot { $0.state.path.count == 1 }
        }
        #expect(try await view.journalled(ApplicationError.self).count == 1)
    }

    @Test("Data that are not JSON are discarded, and the coordinator continues")
    func malformed() async throws {
        try await fixture.withShop {
            let attributes = Attributes(type: Command.ItemSelected.type, source: "stranger/1")
            try await view.publish(Batch([Envelope(attributes: attributes, data: Data("{item".utf8))]))
            #expect(try await firstDiscarded().messageID == attributes.id)
            try await view.send(Command.ItemSelected(itemID: "7"))
            try await fixture.snapshot { $0.state.path.count == 1 }
        }
    }
}
