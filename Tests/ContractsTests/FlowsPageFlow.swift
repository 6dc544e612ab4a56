import Contracts
import EventBus
import Navigation

extension Command { struct ItemSelected: CommandMessage { var itemID: Int } }
extension DomainEvent { struct ItemBought: EventMessage { var first: Bool } }

func shop() throws -> Flow {
    try Flow("shop", version: 1, platform: "ios", start: "list") {
        Flow.Screen("list", title: "Everything", sends: Command.ItemSelected.self)
        Flow.Screen("item", title: "One item")
        Flow.Screen("rating")
        Flow.Transition(
            on: Command.ItemSelected.self, when: [.top("list")],
            do: [.push(.screen("item", ["itemID": .data(\Command.ItemSelected.itemID)]))])
        Flow.Transition(
            on: DomainEvent.ItemBought.self, where: [\.first: true], when: [.presented()],
            do: [.present("rating", as: .sheet)])
    }
}
