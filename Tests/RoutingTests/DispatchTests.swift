import Contracts
import EventBus
import Foundation
import Navigation
import Routing
import Support
import TestSupport
import Testing

@Suite("Dispatching")
struct DispatchTests {
    private struct Item: Dispatchable {
        var itemID: Int
        var name = "A lamp"

        static let dispatchName = "Thing"
        static var change: DispatchChange {
            .pushed("item", identifiers: [CodingKeys.itemID], viewModel: NoViewModel.self)
        }
    }

    private struct Basket: Dispatchable {
        var basketID: String

        static var change: DispatchChange {
            .modal(
                "basket", options: PresentationOptions(detents: [.medium]), inStack: true,
                identifiers: [CodingKeys.basketID], viewModel: NoViewModel.self)
        }
    }

    private struct NoViewModel: DispatchedViewModel {
        init(screen: ScreenInstance, dispatching: any Dispatching) throws {}
    }

    let fixture = RoutingFixture()

    private func flow(_ platform: String = "ios") throws -> Flow {
        try Flow("shop", version: 1, platform: platform, start: "home") {
            for screen in ["home", "item", "basket"] { Flow.Screen(screen) }
            Flow.Dispatch(Item.self, Basket.self)
        }
    }

    @Test("A type's rules show its data by the identifying fields only")
    func rules() {
        #expect(
            Flow.Dispatch(Item.self, Basket.self).transitions == [
                Flow.Transition(
                    on: "command.DataDispatched", where: ["name": "Thing"], origin: .own,
                    do: [.push(.screen("item", ["itemID": "${data.data.itemID}"]))]),
                Flow.Transition(
                    on: "command.DataDispatched", where: ["name": "Basket"], origin: .own,
                    do: [
                        .present(
                            .screen("basket", ["basketID": "${data.data.basketID}"]), as: .sheet,
                            options: PresentationOptions(detents: [.medium]))
                    ]),
            ])
    }

    @Test("Dispatched data are shown by the platform's coordinator, and by no other one")
    func shown() async throws {
        try await withRunning(fixture.coordinator(flow())) {
            try await withRunning(fixture.coordinator(flow("mac"))) {
                let dispatcher = BusDispatcher(bus: fixture.view, origin: fixture.phone)
                try await dispatcher.dispatch(Basket(basketID: "b1"))
                try await dispatcher.dispatch(Item(itemID: 7))
                let snapshot = try await fixture.snapshot { $0.revision == 2 }
                #expect(snapshot.state.presentations.first?.instance.arguments == ["basketID": "b1"])
                #expect(snapshot.state.top.arguments == ["itemID": 7])
                let command = try await fixture.view.journalled(Command.DataDispatched.self)[1]
                #expect(snapshot.cause == command.id)
                #expect(
                    try command.decode(Command.DataDispatched.self).data == ["itemID": 7, "name": "A lamp"])
                let mac = try await fixture.view.document(Document.NavigationState.self, key: "mac")
                #expect(mac?.snapshot.revision == 0)
            }
        }
    }

    @Test("Data of a view model whose screen is closed are discarded with a report")
    func late() async throws {
        try await withRunning(fixture.coordinator(flow())) {
            try await BusDispatcher(bus: fixture.view, origin: fixture.phone).dispatch(Basket(basketID: "b1"))
            let basket = try await fixture.snapshot { $0.revision == 1 }.state.top.id
            try await fixture.view.send(Command.PresentationDismissed(instance: basket), origin: fixture.phone)
            var origin = fixture.phone
            origin.instance = basket
            try await BusDispatcher(bus: fixture.view, origin: origin).dispatch(Item(itemID: 7))
            _ = try await fixture.view.received(DomainEvent.MessageDiscarded.self)
            let command = try await fixture.view.journalled(Command.DataDispatched.self)[1]
            #expect(try await fixture.discards().map(\.messageID) == [command.id])
            #expect(try await fixture.snapshot()?.state.presentations.isEmpty == true)
        }
    }

    @Test("A recording dispatcher stores the data in their order and by their types")
    func recording() async throws {
        let dispatcher = RecordingDispatcher()
        try await dispatcher.dispatch(Item(itemID: 1))
        try await dispatcher.dispatch(Basket(basketID: "b1"))
        try await dispatcher.dispatch(Item(itemID: 2))
        #expect(dispatcher.dispatched.count == 3)
        #expect(dispatcher.dispatched(Item.self).map(\.itemID) == [1, 2])
        #expect(dispatcher.dispatched(Basket.self) == [Basket(basketID: "b1")])
    }
}
