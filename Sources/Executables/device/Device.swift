import ServiceRuntime
import TerminalDevice

@main
struct Device {
    static func main() async { await DeviceCommand.runProgram() }
}
