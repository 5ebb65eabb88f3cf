import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What a BI tool asks through JDBC: every question about tables, then one about rows; one line each. */
public class Metadata {
    interface Question {
        ResultSet ask() throws SQLException;
    }

    static void tell(String name, String column, Question question) {
        try (ResultSet found = question.ask()) {
            List<String> told = new ArrayList<>();
            while (found.next()) {
                told.add(String.valueOf(found.getString(column)));
            }
            System.out.println(name + ": " + String.join(" ", told));
        } catch (SQLException error) {
            System.out.println(name + " FAILED " + error.getMessage());
        }
    }

    public static void main(String[] given) throws SQLException {
        try (Connection connection = DriverManager.getConnection(given[0], given[1], given[2])) {
            DatabaseMetaData data = connection.getMetaData();
            tell("catalogs", "TABLE_CAT", data::getCatalogs);
            tell("schemas", "TABLE_SCHEM", data::getSchemas);
            tell("kinds", "TABLE_TYPE", data::getTableTypes);
            tell("tables", "TABLE_NAME", () -> data.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}));
            tell("columns", "COLUMN_NAME", () -> data.getColumns(null, "public", "orders", null));
            tell("types of columns", "TYPE_NAME", () -> data.getColumns(null, "public", "orders", null));
            tell("keys", "COLUMN_NAME", () -> data.getPrimaryKeys(null, "public", "customers"));
            tell("imported", "FKCOLUMN_NAME", () -> data.getImportedKeys(null, "public", "orders"));
            tell("exported", "FKTABLE_NAME", () -> data.getExportedKeys(null, "public", "customers"));
            tell("crossing", "PKCOLUMN_NAME",
                () -> data.getCrossReference(null, "public", "customers", null, "public", "orders"));
            tell("indexes", "INDEX_NAME", () -> data.getIndexInfo(null, "public", "customers", false, true));
            tell("types", "TYPE_NAME", data::getTypeInfo);
            tell("procedures", "PROCEDURE_NAME", () -> data.getProcedures(null, null, "%"));
            tell("functions", "FUNCTION_NAME", () -> data.getFunctions(null, null, "%"));
            tell("privileges", "PRIVILEGE", () -> data.getTablePrivileges(null, "public", "orders"));
            tell("privileges of columns", "PRIVILEGE", () -> data.getColumnPrivileges(null, "public", "orders", "%"));
            tell("best", "COLUMN_NAME", () -> data.getBestRowIdentifier(null, "public", "customers", 0, true));
            tell("own types", "TYPE_NAME", () -> data.getUDTs(null, null, "%", null));
            try (PreparedStatement count =
                    connection.prepareStatement("SELECT COUNT(*) AS n FROM orders WHERE amount >= ?")) {
                count.setInt(1, 0);
                for (int time = 0; time < 7; time++) { // the driver asks in binary from the fifth time on
                    tell("count", "n", count::executeQuery);
                }
            }
        }
    }
}
