import ServiceRuntime
import WebDevice

@main
struct WebGateway {
    static func main() async { await WebGatewayCommand.runProgram() }
}
