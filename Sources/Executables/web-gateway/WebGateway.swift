import ServiceRuntime
import WebGatewayProgram

@main
struct WebGateway {
    static func main() async { await WebGatewayCommand.runProgram() }
}
