import BrokerProgram
import FocusPlayerProgram
import PlatformPrograms
import SegueCommands
import ServiceRuntime
import Services
import SpotifySimulator
import Support
import TerminalDevice
import WebGatewayProgram

/// All programs of an installation in one file, which shares what they have in common. The name by which the file is
/// called, usually that of a symbolic link, selects the program; with any other name it is `segue`.
@main
struct SeguePrograms {
    static func main() async {
        let path = CommandLine.arguments.first ?? ""
        switch path.cut(atLast: "/")?.after ?? path[...] {
        case "auth-service": await AuthServiceCommand.runProgram()
        case "broker": await BrokerCommand.runProgram()
        case "device": await DeviceCommand.runProgram()
        case "error-notifier": await ErrorNotifierCommand.runProgram()
        case "focus-player": await FocusPlayerCommand.runProgram()
        case "music-service": await MusicServiceCommand.runProgram()
        case "navigation-coordinator": await NavigationCoordinatorCommand.runProgram()
        case "spotify-simulator": await SpotifySimulatorCommand.runProgram()
        case "web-gateway": await WebGatewayCommand.runProgram()
        default: await Segue.runProgram()
        }
    }
}
