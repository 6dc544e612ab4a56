import BrokerProgram
import ServiceRuntime

@main
struct Broker {
    static func main() async { await BrokerCommand.runProgram() }
}
