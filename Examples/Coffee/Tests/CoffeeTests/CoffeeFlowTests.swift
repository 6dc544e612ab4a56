import FlowFiles
import Foundation
import Navigation
import Support
import Testing

@Suite("The coffee bar's flow, with nothing around it")
struct CoffeeFlowTests {
    @Test("An order leads to the machine, the coffee to the cup, and the cup back to the menu")
    func story() throws {
        var machine = try machine()
        machine.handle("command.CoffeeOrdered", ["kind": "lungo"])
        #expect(machine.state.top.screen == "brewing")
        machine.handle("event.CoffeeServed", ["kind": "lungo"])
        #expect(machine.state.top.arguments == ["kind": "lungo"])
        machine.handle("command.CoffeeTaken")
        #expect(machine.state.top.screen == "menu")
    }

    @Test("Somebody else's coffee leaves the screen as it is")
    func another() throws {
        var machine = try machine()
        machine.handle("command.CoffeeOrdered", ["kind": "lungo"])
        machine.handle("event.CoffeeServed", ["kind": "espresso"])
        #expect(machine.state.top.screen == "brewing")
    }

    private func machine() throws -> Machine {
        let file = PackageFile.path("flow.yaml")
        return Machine(flow: try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file))
    }
}

extension Machine {
    fileprivate mutating func handle(_ type: String, _ data: JSONValue = [:]) {
        _ = handle(Machine.Input(id: UUID().uuidString, type: type, data: data))
    }
}
