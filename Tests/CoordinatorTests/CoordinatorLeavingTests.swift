import Contracts
import EventBus
import Foundation
import Navigation
import SegueTestSupport
import TestSupport
import Testing

@Suite("Coordinator: leaving screens")
struct CoordinatorLeavingTests {
    let fixture = CoordinatorFixture()
    var view: EventBus { fixture.view }

    /// Opens the item and pops it by a command, so that the view still has to animate it out.
    private func leaveItem() async throws -> String {
        try await view.send(Command.ItemSelected(itemID: "7"))
        let item = try await fixture.snapshot { !$0.state.path.isEmpty }.state.top.id
        try await view.send(Command.BackRequested())
        try await fixture.snapshot { $0.state.leaving.map(\.id) == [item] }
        return item
    }

    @Test("A screen is reported as gone when no view does so in time")
    func timeIsUp() async throws {
        try await fixture.withShop {
            let item = try await leaveItem()
            fixture.clock.advance(by: .milliseconds(1999))
            #expect(try await view.journalled(Command.ScreenGone.self).count == 1)
            fixture.clock.advance(by: .milliseconds(1))
            try await fixture.snapshot { $0.state.leaving.isEmpty }
            let report = try await view.received(Command.ScreenGone.self, 2)[1]
            #expect(report.attributes.source == "navigation-coordinator/1")
            #expect(try report.decode(Command.ScreenGone.self).instance == item)
            #expect(report.attributes.platform == "ios")
            #expect(report.attributes.expiryTime == nil, "it comes from no view")
        }
    }

    @Test("No report is published when the view reports the screen in time")
    func viewInTime() async throws {
        try await fixture.withShop {
            let item = try await leaveItem()
            try await view.send(Command.ScreenGone(instance: item), origin: fixture.phone)
            try await fixture.snapshot { $0.state.leaving.isEmpty }
            let revision = try await fixture.currentSnapshot()?.revision ?? 0
            // The timers of this screen and of the next one end at the same time. Only the next screen is then still
            // leaving.
            _ = try await leaveItem()
            fixture.clock.advance(by: .seconds(2))
            try await fixture.snapshot { $0.state.leaving.isEmpty && $0.revision > revision }
        }
        let reports = try await view.journalled(Command.ScreenGone.self)
        #expect(reports.map(\.attributes.source) == ["device/1", "device/1", "navigation-coordinator/1"])
    }

    @Test("A document shows what the coordinator waits for, as long as it waits")
    func deadlines() async throws {
        try await fixture.withShop {
            let item = try await leaveItem()
            let deadlines = try await view.documents(matching: [.type(Document.Deadline.self)])
            #expect(try deadlines.map { try $0.decode(Document.Deadline.self).id } == [item])
            let state = try await view.document(Document.NavigationState.self, key: "ios")?.snapshot
            #expect(state?.cause == deadlines[0].attributes.causationID, "it came with the state")
            try await view.send(Command.ScreenGone(instance: item), origin: fixture.phone)
            try await fixture.snapshot { $0.state.leaving.isEmpty }
            #expect(try await view.documents(matching: [.type(Document.Deadline.self)]).isEmpty)
        }
    }

    @Test("A leaving screen is expected after a restart, even if an earlier version published no document")
    func restartOnEarlierState() async throws {
        try await fixture.withShop { _ = try await leaveItem() }
        for deadline in try await view.documents(matching: [.type(Document.Deadline.self)]) {
            try await view.publish(Batch([Envelope(attributes: deadline.attributes, data: .init())]))
        }
        try await withRunning(fixture.coordinator(.shop())) {
            #expect(try await view.documents(matching: [.type(Document.Deadline.self)]).count == 1)
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .seconds(2))
            try await fixture.snapshot { $0.state.leaving.isEmpty }
        }
    }

    @Test("A document for something that the state no longer waits for is withdrawn after a restart")
    func staleDeadline() async throws {
        try await fixture.withShop {}
        try await view.publish(
            Document.Deadline(platform: "ios", object: .screen, id: "gone.9", delay: 2000))
        try await withRunning(fixture.coordinator(.shop())) {
            let deadlines = try await view.documents(matching: [.type(Document.Deadline.self)])
            #expect(deadlines.isEmpty)
        }
    }

    @Test("A leaving screen is expected to go after a restart")
    func restart() async throws {
        try await fixture.withShop { _ = try await leaveItem() }
        try await withRunning(fixture.coordinator(.shop())) {
            try await fixture.clock.sleepers()
            fixture.clock.advance(by: .seconds(2))
            try await fixture.snapshot { $0.state.leaving.isEmpty }
        }
    }
}
